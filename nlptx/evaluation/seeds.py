"""Tables of predictions that cover several seeds, as ``nlptx crossvalidate --seeds`` writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nlptx.corpus.document import Document
from nlptx.evaluation.groups import cell_text
from nlptx.evaluation.table_columns import newest_column

# Name of the column that contains the seed in the predictions of nlptx crossvalidate.
SEED_COLUMN = "seed"


def texts_of_seeds(documents: Sequence[Document]) -> list[str] | None:
    """Return the text of each row if at least half of the texts are repeated with different seeds; else None."""
    texts = [document.text for document in documents]
    seeds: dict[str, set[str]] = defaultdict(set)
    for text, seed in zip(texts, _seeds(documents), strict=True):
        seeds[text].add(seed)
    are_repeated = 2 * sum(len(each) > 1 for each in seeds.values()) >= len(seeds)
    return texts if are_repeated or len(set(map(id, documents))) < len(documents) else None


def rows_of_one_seed(documents: Sequence[Document]) -> list[Document]:
    """Return the rows that have the same seed as the first row; all rows if there is no column with seeds."""
    seeds = _seeds(documents)
    return [document for document, seed in zip(documents, seeds, strict=True) if seed == seeds[0]]


def _seeds(documents: Sequence[Document]) -> list[str]:
    """Return the seed of each row, or an empty string for a row without a seed."""
    column = newest_column(documents, SEED_COLUMN) or SEED_COLUMN
    return [cell_text((document.fields or {}).get(column)) for document in documents]


def seeds_note(texts: Sequence[str], consequence: str) -> str:
    """Return a note about a table that covers several seeds, with the consequence."""
    return (
        f"the table has {len(texts):,} rows for {len(set(texts)):,} texts, because it covers several seeds;"
        f" {consequence}"
    )
