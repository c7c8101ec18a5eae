"""``nlptx neighbors``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.number_types import CountRange
from nlptx.cli.options.shared import BUNDLED, CommonOptions, common_options
from nlptx.cli.steps.start import load_vectors
from nlptx.cli.terminal.reporter import print_json
from nlptx.errors import ArtifactError, DataError, listed

if TYPE_CHECKING:
    from nlptx.embeddings.embeddings import Embeddings

# First bytes of a zip file (an .npz file is a zip file), and suffixes of word-vector files.
_ZIP = b"PK\x03\x04"
_ENDINGS = (".npz", ".txt", ".vec")
# Maximum number of words named in a note.
_NAMED = 3


@command()
@click.argument("words", nargs=-1, required=True, type=PATH, metavar="[EMBEDDINGS] WORD...")
@option(
    "-m",
    "--model",
    type=PATH,
    metavar="FILE",
    show_default=BUNDLED,
    help="File with the word vectors; with -m, all arguments are words.",
)
@option("--analogy", is_flag=True, help="Given three words a b c, find d such that a is to b as c is to d.")
@option("-n", "--top", type=CountRange(1), default=10, show_default=True, help="Number of words to show.")
@common_options(json_help="Print one JSON object.")
def neighbors(words: tuple[str, ...], model: str | None, analogy: bool, top: int, common: CommonOptions) -> None:
    """Show the words nearest to a word, by the cosine of their vectors.

    \b
    nlptx neighbors terrible wonderful
    nlptx neighbors embeddings.npz --analogy man king woman

    EMBEDDINGS is the output of nlptx pca or nlptx train (- for standard input), or a file in word2vec text format
    (*.txt, *.vec); without EMBEDDINGS and -m, the bundled model is used. The first argument is used as EMBEDDINGS if it
    contains a slash, ends in .npz, .txt or .vec, or names a file in .npz format. If more arguments follow, - or
    "bundled" as the first argument is also used as EMBEDDINGS. With -m FILE, every argument is a word.

    If - is given in place of a word, words are read from standard input, one per line.

    The vector of an unknown word is estimated from known words with a similar spelling, and a note names these words.
    In the JSON output, the neighbours of an unknown word are marked "estimated": true. If no known word has a similar
    spelling, the command fails. For such a word from standard input, however, the command prints a note and an empty
    list of neighbours, and continues. With --analogy, all three words must be known.
    """
    if model is None and (_names_vectors(words[0]) or (words[0] in ("-", BUNDLED) and len(words) > 1)):
        model, *rest = words
        words = tuple(rest)
    check_names(model, *(word for word in words if word == "-"))
    if not words:
        raise click.UsageError(f"no words are given; use nlptx neighbors {model} WORD...")
    given = [pair for word in words for pair in (_standard_input() if word == "-" else [(word, "")])]
    words = tuple(word for word, _ in given)
    if analogy and len(words) != 3:
        raise click.UsageError(f"--analogy takes three words; got {len(words)}.")
    vectors = load_vectors(model)
    try:
        vectors.check_has_vectors()
    except DataError as error:
        raise ArtifactError(error.message, where=model or BUNDLED, hint=error.hint) from None
    try:
        if analogy:
            neighbours_of = {" ".join(words): vectors.analogy(words[0], words[1], words[2], top)}
        else:
            neighbours_of = {word: _nearest(vectors, word, top, common, where) for word, where in given}
    except DataError as error:
        if model is None:
            error.hint = "The word vectors of the bundled model were used; to use others, add -m FILE."
        raise
    if common.json:
        estimated = {name for name in neighbours_of if not analogy and name not in vectors}
        print_json({name: _as_json(rows, estimated=name in estimated) for name, rows in neighbours_of.items()})
        return
    for name, rows in neighbours_of.items():
        common.reporter.table(name, ("word", "cosine"), [(word, f"{cosine:.4f}") for word, cosine in rows])


def _standard_input() -> Iterator[tuple[str, str]]:
    """Read words from standard input, one per line, and yield (word, position) for each."""
    from nlptx.corpus.corpus import Corpus

    try:
        for line in Corpus(("-",)):
            if word := line.text.strip():
                yield word, line.where
    except DataError as error:
        if "`" in (error.hint or ""):  # the hint names a reading option, and this command has none
            error.hint = "Words are read as text in UTF-8, one per line; iconv converts text from other encodings."
        elif "artifact" in error.message:
            error.hint = "To read word vectors from standard input, name a word too: nlptx neighbors - WORD."
        raise


def _nearest(vectors: Embeddings, word: str, top: int, common: CommonOptions, where: str) -> list[tuple[str, float]]:
    """Return the nearest words and their cosines. The vector of an unknown word is estimated.

    If a word from standard input has no vector, and none can be estimated, print a note and return an empty list.

    Args:
        vectors: word vectors.
        word: word to look up.
        top: number of words.
        common: options shared by all commands.
        where: position on standard input; empty if the word is an argument.
    """
    try:
        if word in vectors:
            return vectors.nearest(word, top)
        nearest, similar = vectors.nearest_by_spelling(word, top)
    except DataError as error:
        if not where:
            raise
        common.reporter.note(f"{where}: {error.message}")
        return []
    named = listed(similar, _NAMED)
    common.reporter.note(f"{word!r} is unknown; its vector is estimated from words with a similar spelling: {named}")
    return nearest


def _as_json(rows: list[tuple[str, float]], *, estimated: bool) -> list[dict[str, Any]]:
    mark = {"estimated": True} if estimated else {}
    return [{"word": word, "cosine": round(cosine, 6), **mark} for word, cosine in rows]


def _names_vectors(argument: str) -> bool:
    """Return whether the first argument is the name of a file of word vectors rather than a word."""
    if not argument or os.sep in argument or argument.lower().endswith(_ENDINGS):
        return True
    if not os.path.isfile(argument) or not os.access(argument, os.R_OK):
        return False
    with open(argument, "rb") as file:
        return file.read(len(_ZIP)) == _ZIP
