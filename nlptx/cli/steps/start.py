"""Loads word vectors, for ``train`` and ``neighbors``, and the model that training starts from (``--start``)."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.command import PATH, option
from nlptx.cli.options.precedence import is_default, with_origin
from nlptx.cli.options.shared import BUNDLED
from nlptx.errors import CorruptError
from nlptx.settings import TrainSettings

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.embeddings.embeddings import Embeddings

start_option = option(
    "--start",
    type=PATH,
    metavar="MODEL",
    group="Start",
    excludes={"embeddings": "{1} and {0} both set the word vectors; use only one of them."},
    help="Model file to start from, or 'bundled' for the bundled model.",
)


def load_vectors(path: str | None) -> Embeddings:
    """Load word vectors from an artifact or a text file; None and ``bundled`` mean the bundled model."""
    from nlptx.artifacts import container
    from nlptx.classifier.model import Model
    from nlptx.embeddings.embeddings import Embeddings, load_embeddings
    from nlptx.embeddings.word2vec_format import is_text_file

    if path in (None, BUNDLED):
        return Model.load().embeddings()
    if is_text_file(path):
        return load_embeddings(path)
    try:
        artifact = container.read(path, "embeddings", "model")
    except CorruptError as error:
        if path == container.STDIN:
            error.hint = "Standard input must be an .npz file; word2vec text is read from a file (*.txt, *.vec)."
        raise
    if artifact.kind == "model":
        return container.build(artifact, Model.from_artifact, path).embeddings()
    return container.build(artifact, Embeddings.from_artifact, path)


def load_start(path: str, settings: TrainSettings) -> Model:
    """Load the model to start from.

    Raises:
        click.UsageError: an option contradicts the network shape of the model.
        ArtifactError: the file is not a model, or is damaged.
        SettingsError: the file does not exist, or is a folder.
    """
    from nlptx.classifier.model import Model
    from nlptx.training.start_settings import settings_of_model

    start = Model.load(None if path == BUNDLED else path)
    context = click.get_current_context()
    for name, value_of_model in settings_of_model(start).items():
        value = getattr(settings, name)
        if not is_default(name, context) and value not in (value_of_model, "auto"):
            option = with_origin(context, name)
            raise click.UsageError(
                f"{option} is {value}, but the model to start from has {value_of_model}; omit this option, or use -e"
                " instead of --start."
            )
    return start


def file_digest(name: str, path: str | None) -> dict[str, str]:
    """Return a dictionary that maps ``name`` to the SHA-256 of an input file, to be recorded in the new model.

    The result is empty if ``path`` is None, standard input, a pipe, or a missing file, which is reported when the file
    itself is read.
    """
    from nlptx.classifier.model_file import bundled_path

    path = bundled_path() if path == BUNDLED else path
    if path is None or not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        return {name: hashlib.file_digest(file, "sha256").hexdigest()}
