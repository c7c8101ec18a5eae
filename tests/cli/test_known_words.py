"""Texts with no or only a few known words are reported by predict and evaluate, and not silently labelled.

Texts that are unlike the training texts are reported even if the model knows their words.
"""

import json

import pytest
from calling import call
from sample_data import write_tsv

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import Scored
from nlptx.cli.results.known_words import KnownWords

STRANGE = ["\U0001f600", "\u2605\u2605\u2605\u2605\u2605", "", "   ", "zzz qqq"]


# ---------------------------------------------------------------- predict


def test_a_text_without_a_known_word_gets_no_label(work):
    result = call("predict", "-m", work / "model.npz", stdin="".join(f"{text}\n" for text in ["great film", *STRANGE]))
    rows = [line.split("\t") for line in result.text.split("\n")[:-1]]
    assert [label for label, _, _ in rows] == ["pos", *"?????"]
    assert [float(number) for _, number, _ in rows[1:]] == [
        0
    ] * 5  # both labels are equally frequent in the training data
    (note,) = result.stderr.splitlines()
    assert "no known word in 5 texts (<stdin>:2, <stdin>:3, <stdin>:4, ...): labelled ?" in note


@pytest.mark.parametrize("layout", ["csv", "tsv", "jsonl"])
def test_in_tables_the_label_is_a_question_mark_and_the_probabilities_are_the_priors(layout, work):
    result = call("predict", "-m", work / "kinds.npz", "--format", layout, stdin="laugh clown\nzzz\n")
    if layout == "jsonl":
        _, row = map(json.loads, result.text.splitlines())
    else:
        header, _, cells = (line.split("," if layout == "csv" else "\t") for line in result.text.splitlines())
        row = dict(zip(header, cells, strict=True))
    assert row["label"] == "?"
    for name in ("confidence", "prob_comedy", "prob_drama", "prob_western"):
        assert float(row[name]) == pytest.approx(1 / 3, abs=2e-6)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "great film", "id": 1}\n{"text": null, "id": 2}\n{"text": "awful", "id": 3}\n'),
        ("a.jsonl", '{"text": "great film", "id": 1}\n{"id": 2}\n{"text": "awful", "id": 3}\n'),
        ("a.csv", "text,id\ngreat film,1\n,2\nawful,3\n"),
    ],
    ids=["null", "no-key", "csv"],
)
def test_a_row_without_a_text_stays_in_the_output(name, content, work, tmp_path):
    (tmp_path / name).write_text(content)
    result = call("predict", "-m", work / "model.npz", tmp_path / name, "--format", "jsonl")
    rows = [json.loads(line) for line in result.text.splitlines()]
    assert [(int(row["id"]), row["label"]) for row in rows] == [(1, "pos"), (2, "?"), (3, "neg")]
    assert rows[1].get("text") in (None, "")
    assert f"{name}:" in result.stderr


def test_in_python_a_text_without_known_words_gets_the_most_frequent_label(work):
    model = Model.load(str(work / "model.npz"))
    assert model.predict(["zzz", "great film"], jobs=1) == [model.labels[model.priors.argmax()], "pos"]


def test_few_known_words_cause_a_note(work):
    result = call("predict", "-m", work / "model.npz", stdin="das ist ein film\nder film was zzz\n")
    assert "?" not in [line.split("\t")[0] for line in result.text.splitlines()]
    (note,) = result.stderr.splitlines()
    assert "knows only 3 of 8 words (38%)" in note
    assert call("predict", "-q", "-m", work / "model.npz", stdin="das ist ein film\n").stderr == ""


def scored(known, tokens, truncated=False):
    return Scored([0.5, 0.5], (0,), 0.5, 0.0, known, truncated, tokens)


@pytest.mark.parametrize(
    ("texts", "notes"),
    [
        ([], 0),
        ([scored(10, 10)], 0),
        ([scored(6, 10)], 0),
        ([scored(5, 10)], 1),
        ([scored(1, 10), scored(90, 90)], 0),
        ([scored(0, 1000), scored(10, 10)], 1),  # the first text is reported only as a text without known words
        ([scored(0, 0), scored(1, 5)], 2),
        ([scored(128, 1000, truncated=True)], 0),  # only the part of a text that is read counts
    ],
)
def test_number_of_notes(texts, notes):
    counted = KnownWords()
    for number, text in enumerate(texts):
        counted.add(f"a.txt:{number}", text)
    assert len(list(counted.notes("labelled ?"))) == notes


def unusual(known=3):
    return Scored([0.5, 0.5], (0,), 0.5, 0.0, known, False, 4, surprise=5.0, unusual=True)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([scored(9, 9)] * 2 + [unusual()] * 3, ["3 of 5 texts are unlike", "(first: a.txt:2)"]),
        ([scored(9, 9)] * 27 + [unusual()] * 3, []),  # 10% is too few for a note
        ([scored(9, 9)] * 26 + [unusual()] * 3, ["3 of 29 texts"]),
        ([scored(9, 9)] * 2 + [unusual()] * 2, []),  # two texts are too few for a note
        ([unusual(0)] * 3, ["no known word in 3 texts"]),
        ([unusual(0)] * 2 + [unusual()], ["no known word in 2 texts", "3 of 3 texts are unlike", "(first: a.txt:2)"]),
        ([unusual(1)] * 3, ["3 of 3 texts"]),  # this note replaces the note about few known words
        ([unusual(1)] * 2, ["knows only 2 of 8 words"]),
    ],
)
def test_notes_on_texts_unlike_the_training_texts(texts, expected):
    counted = KnownWords()
    for number, text in enumerate(texts):
        counted.add(f"a.txt:{number}", text)
    notes = " ".join(counted.notes("labelled ?"))
    assert all(part in notes for part in expected)
    assert bool(notes) == bool(expected)


def test_predict_marks_and_reports_other_languages():
    english = [
        "A dull film with a good cast.",
        "The room was clean and the staff were lovely.",
        "I would buy it again.",
    ]
    german = [
        "Der Film war leider viel zu lang und ziemlich langweilig.",
        "Das Zimmer roch nach Rauch und die Klimaanlage war kaputt.",
        "Ich habe selten so gelacht wie in dieser Komödie.",
    ]
    lines = "".join(f"{text}\n" for text in (*english, "", *german))
    result = call("predict", "--details", "--format", "jsonl", stdin=lines)
    rows = [json.loads(line) for line in result.text.splitlines()]
    assert [row["unusual"] for row in rows] == [False] * 3 + [None] + [True] * 3
    assert rows[3]["surprise"] is None
    assert all(row["surprise"] < 2 for row in rows[:3])
    assert all(row["surprise"] > 3 for row in rows[4:])
    _, note = result.stderr.splitlines()
    assert "3 of 7 texts are unlike the texts that the model was trained on (first: <stdin>:5)" in note
    assert call("predict", stdin="".join(f"{text}\n" for text in english * 3)).stderr == ""


# ---------------------------------------------------------------- evaluate


def test_evaluate_scores_texts_without_known_words_with_the_priors_and_counts_them(work, tmp_path):
    rows = [("laugh clown", "comedy"), ("zzz", "comedy"), ("qqq", "western")]
    path = write_tsv(tmp_path / "a.tsv", rows)
    result = call("evaluate", "-m", work / "kinds.npz", path)
    assert "without a known word  2" in " ".join(result.text.split("\n"))
    assert "no known word in 2 texts" in result.stderr
    report = json.loads(call("evaluate", "-m", work / "kinds.npz", path, "--json", "-q").text)
    model = Model.load(str(work / "kinds.npz"))
    best = model.labels[model.priors.argmax()]
    assert (report["texts"], report["unknown_texts"]) == (3, 2)
    assert report["accuracy"] == pytest.approx((1 + (best == "comedy") + (best == "western")) / 3)


def test_evaluate_reports_that_the_model_has_seen_the_data(work, tmp_path):
    given = ("train", work / "train.tsv", "-e", work / "embeddings.npz", "--heads", "2", "--epochs", "1", "-q")
    call(*given, "--valid", work / "test.tsv", "-o", tmp_path / "m.npz")
    other = write_tsv(tmp_path / "other.tsv", [("great film", "pos"), ("awful film", "neg")])
    for path, seen_in, says in (
        (work / "train.tsv", "training", "was trained on this data"),
        (work / "test.tsv", "validation", "were chosen on this data"),
        (other, None, ""),
    ):
        result = call("evaluate", "-m", tmp_path / "m.npz", path, "--json")
        assert json.loads(result.text)["seen_in"] == seen_in
        assert says in result.stderr
        assert bool(result.stderr) == bool(says)
    # A table from a cross-validation with several seeds repeats the texts.
    header, *rows = (work / "train.tsv").read_text().splitlines()
    lines = [f"{header}\tpredicted\tseed", *(f"{row}\tpos\t{seed}" for seed in (1, 2) for row in rows)]
    (tmp_path / "seeds.tsv").write_text("\n".join(lines) + "\n")
    for words in (("evaluate", "-m"), ("compare",)):
        found = call(*words, tmp_path / "m.npz", tmp_path / "seeds.tsv", "--json", "-q").json["seen_in"]
        assert found in ("training", {str(tmp_path / "m.npz"): "training"})


def test_training_and_validation_parts_of_a_corpus_are_distinguished(work, tmp_path):
    for part, texts in (("train", "great film|awful film"), ("test", "superb film|dull film")):
        for label, text in zip(("pos", "neg"), texts.split("|"), strict=True):
            folder = tmp_path / "corpus" / part / label
            folder.mkdir(parents=True)
            (folder / "1.txt").write_text(text)
    unlabelled = tmp_path / "corpus" / "train" / "unsup"
    unlabelled.mkdir()
    (unlabelled / "1.txt").write_text("a lovely film")
    corpus = tmp_path / "corpus"
    given = ("train", corpus, "-e", work / "embeddings.npz", "--heads", "2", "--epochs", "1", "-q")
    call(*given, "--valid", corpus, "-o", tmp_path / "m.npz")
    for split, seen_in in (("train", "training"), ("test", "validation")):
        found = call("evaluate", "-m", tmp_path / "m.npz", corpus, "--split", split, "--json")
        assert json.loads(found.text)["seen_in"] == seen_in
