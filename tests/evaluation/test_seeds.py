"""Tables of predictions that cover several seeds are recognised."""

from nlptx.corpus.document import Document
from nlptx.evaluation.seeds import rows_of_one_seed, texts_of_seeds


def test_rows_cover_several_seeds_only_if_texts_are_repeated():
    rows = [Document(text, fields={"seed": seed}) for text, seed in (("a", 1), ("b", [2]))]
    assert texts_of_seeds(rows) is None
    assert texts_of_seeds([*rows, Document("a", fields={"seed": 2})]) == ["a", "b", "a"]
    assert texts_of_seeds([rows[0], rows[1], rows[0]]) == ["a", "b", "a"]
    # Another column with this name may come from the data, in which some text may occur twice.
    from_data = [Document(text, fields={"seed": number}) for number, text in enumerate("abca")]
    assert texts_of_seeds(from_data) is None


def test_seeds_are_read_from_the_column_that_was_added_last():
    rows = [Document(text, fields={"seed": 7, "predicted_seed": seed}) for seed in (1, 2) for text in "ab"]
    assert texts_of_seeds(rows) == ["a", "b", "a", "b"]
    assert rows_of_one_seed(rows) == rows[:2]
