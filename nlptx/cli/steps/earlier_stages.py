"""Options and reports of counting and PCA, the stages that ``nlptx train`` runs itself if no word vectors are given."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.config import SECTIONS, note_ignored, stage_command
from nlptx.cli.options.precedence import CONFIGURED, is_default, preset_and_effort
from nlptx.cli.results.stage_facts import count_facts, note_dropped_words, pca_facts
from nlptx.cli.terminal.reporter import Reporter
from nlptx.settings import CountSettings, PcaSettings, Settings

if TYPE_CHECKING:
    from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
    from nlptx.embeddings.embeddings import Embeddings
    from nlptx.training.embedding_builder import EmbeddingBuilder

# Options of ``cooccur`` and ``pca``, besides their settings, that ``train`` uses when it makes word vectors itself.
_USED = {"cooccur": ("memory", "tmp_dir", "preset"), "pca": ("seed", "preset")}


class EarlierStages:
    """Counting and PCA within ``nlptx train``, ``crossvalidate`` and ``tune``.

    The options of the two stages get the values that they would have in ``nlptx cooccur`` and ``nlptx pca``, from the
    ``--config`` file, from environment variables, or from the preset of ``train``.

    Args:
        context: context of the command.
        reporter: prints the messages of the command.

    Attributes:
        facts: summary of each completed stage, by command name.

    Raises:
        click.UsageError: an option of a stage has an invalid value.
    """

    def __init__(self, context: click.Context, reporter: Reporter) -> None:
        self.reporter = reporter
        self.facts: dict[str, dict[str, Any]] = {}
        self._train_values = context.params
        self._cooccur, self._pca = (_context_of(stage, context) for stage in _USED)
        for stage, used in _USED.items():
            note_ignored(context, reporter, stage, {*used, *(item.name for item in fields(SECTIONS[stage]))})

    def builder(self, epochs: int, more_texts: list[str], record: dict[str, Any]) -> EmbeddingBuilder:
        """Return an object that makes word vectors with the settings of both stages.

        Unless ``epochs`` is 0, a note tells the user that no word vectors are given.

        Args:
            epochs: number of training epochs; 0 means that there is no network, so no word vectors are made.
            more_texts: texts to count in addition to the training texts.
            record: information about the corpus, to be stored with the word vectors.
        """
        from nlptx.training.embedding_builder import EmbeddingBuilder
        from nlptx.training.encoding import WORD_MEMORY

        cooccur = CountSettings(**_values(CountSettings, self._cooccur))
        pca = PcaSettings(**_values(PcaSettings, self._pca))
        if epochs:
            self.reporter.note("no word vectors are given (-e), so they are made from these texts by counting and PCA")
        self.reporter.detail(f"settings of cooccur: {cooccur.to_dict()}")
        self.reporter.detail(f"settings of pca: {pca.to_dict()}")
        # If --memory or --tmp-dir is not set for cooccur, the value of the same option of train applies. There is one
        # exception: if --memory is not set for cooccur, the memory for distinct words is limited to WORD_MEMORY,
        # because --memory of train must not determine which words are counted.
        memory, tmp_dir = (
            self._train_values[name]
            if name in self._train_values and is_default(name, self._cooccur)
            else self._cooccur.params[name]
            for name in ("memory", "tmp_dir")
        )
        word_memory = WORD_MEMORY if is_default("memory", self._cooccur) else None
        return EmbeddingBuilder(
            cooccur,
            pca,
            None if is_default("seed", self._pca) else self._pca.params["seed"],
            memory,
            tmp_dir,
            word_memory,
            more_texts,
            record,
            self._show,
        )

    def _show(self, result: StoredCooccurrence | Embeddings) -> None:
        """Report the result of a stage."""
        from nlptx.cooccurrence.stored_matrix import StoredCooccurrence

        words = f"{len(result.vocabulary):,} words"
        if isinstance(result, StoredCooccurrence):
            note_dropped_words(result.details, self.reporter.note)
            self.facts["cooccur"] = count_facts(result.details, len(result.vocabulary), int(result.matrix.indptr[-1]))
            self.reporter.note(f"counting  {result.details['tokens']:,} tokens, {words} in the vocabulary")
        else:
            self.facts["pca"] = pca_facts(result)
            explained = f"{self.facts['pca']['explained_variance']:.1%} of the variance"
            self.reporter.note(f"PCA  {words}, {result.vectors.shape[1]:,} components, {explained}")


def _context_of(stage: str, context: click.Context) -> click.Context:
    """Parse the options of the command of a stage, with the preset of ``train``, and return the resulting context."""
    command, program = stage_command(stage, context)
    preset = preset_and_effort(context).get("preset")
    words = ["-"]
    if preset is not None and "preset" not in context.meta.get(CONFIGURED, {}).get(stage, {}):
        words += ["--preset", preset]
    return command.make_context(stage, words, parent=program)


def _values(cls: type[Settings], context: click.Context) -> dict[str, Any]:
    return {item.name: context.params[item.name] for item in fields(cls)}
