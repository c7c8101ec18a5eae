"""Tests of ``--abstain`` and ``--max-error``, and of what evaluate and info print about error rates and coverage."""

import json

import pytest
from calling import call, failure, last_of_each
from sample_data import COUNT, PCA, TRAIN, make_rows, write_tsv

from nlptx.classifier.abstention import ErrorCurve
from nlptx.cli.options.abstention import attainable_errors

LINES = "great lovely superb film\nthe film was long\nawful dull story\nzzz\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with labelled texts that are hard to classify, and models trained with and without held-out texts."""
    path = tmp_path_factory.mktemp("abstention")
    rows = [
        *make_rows(("neg", "pos"), 500, seed=1, words=5),
        *((text, "neg") for text, _ in make_rows(("pos",), 100, seed=2, words=5)),
    ]
    write_tsv(path / "train.tsv", rows[0::3] + rows[1::3])
    write_tsv(path / "valid.tsv", rows[2::3])
    call("cooccur", path / "train.tsv", *COUNT, "-q", "-o", path / "c.npz")
    call("pca", path / "c.npz", *PCA, "-q", "-o", path / "e.npz")
    train = (
        "train",
        path / "train.tsv",
        "-e",
        path / "e.npz",
        *last_of_each(*TRAIN, "--width", "64", "--subwords", "off"),
        "-q",
    )
    call(*train, "--valid", path / "valid.tsv", "-o", path / "m.npz")
    call(*train, "--valid-share", "0", "-o", path / "bare.npz")
    return path


def predict(folder, *words, stdin=LINES, **options):
    return call("predict", "-j", "1", "-m", folder / "m.npz", *words, stdin=stdin, **options)


# ---------------------------------------------------------------- predict


def test_texts_below_the_confidence_get_a_question_mark_and_keep_their_score(folder):
    plain, abstained = (predict(folder, *words).rows for words in ((), ("--abstain", "0.65")))
    assert [label for label, *_ in plain] == ["pos", "pos", "neg", "?"]
    assert [label for label, *_ in abstained] == ["pos", "?", "neg", "?"]
    assert [row[1:] for row in abstained] == [row[1:] for row in plain]


@pytest.mark.parametrize("layout", ["csv", "tsv", "jsonl"])
def test_in_tables_only_the_label_changes(layout, folder):
    plain, abstained = (predict(folder, "--format", layout, *words).lines for words in ((), ("--abstain", "0.65")))
    changed = [(before, after) for before, after in zip(plain, abstained, strict=True) if before != after]
    ((before, after),) = changed
    assert after.replace("?", "pos") == before


def test_a_note_counts_the_labelled_texts(folder):
    result = predict(folder, "--abstain", "0.65")
    assert result.stderr.splitlines()[-1] == ("labelled 2 of 4 texts (50.0%), those with a confidence of at least 0.65")
    assert predict(folder, "--abstain", "0.65", "-q").stderr == ""
    assert predict(folder, "--abstain", "0.65", stdin="").stderr.startswith("labelled 0 of 0 texts, those")


def test_a_note_says_that_a_balanced_model_is_unsure_of_rare_labels(folder, tmp_path):
    call("train", folder / "valid.tsv", "--epochs", "0", "--class-weight", "balanced", "-q", "-o", tmp_path / "b.npz")
    balanced = ("predict", "-m", tmp_path / "b.npz")
    assert "predictions of rare labels have a low confidence" in call(*balanced, "--abstain", "0.5", stdin=LINES).stderr
    assert "rare labels" not in call(*balanced, stdin=LINES).stderr
    assert "rare labels" not in predict(folder, "--abstain", "0.5").stderr


def test_max_error_has_the_same_effect_as_the_confidence_shown_by_info(folder):
    shown = call("info", folder / "m.npz").text
    assert "error rates attainable with predict --max-error (95% confidence, 200 held-out texts)" in shown
    (line,) = [line for line in shown.splitlines() if "at most 20%" in line]
    abstain = line.rpartition("--abstain ")[2].rstrip(")")
    texts = "".join(f"{text}\n" for text, _ in make_rows(("neg", "pos"), 50, seed=4, words=5))
    chosen, given = (predict(folder, *words, stdin=texts) for words in (("--max-error", "0.2"), ("--abstain", abstain)))
    assert chosen.text == given.text
    assert chosen.stderr == given.stderr


def test_info_lists_maximum_errors_until_all_texts_are_answered():
    curve = ErrorCurve(1000, [0.5, 0.8, 0.9], [1000, 700, 400], [150, 30, 4])
    assert list(attainable_errors(curve)) == [
        ("at most 2.5%", "labels 40% of texts (--abstain 0.9)"),
        ("at most 5%", "labels 40% of texts (--abstain 0.9)"),
        ("at most 10%", "labels 70% of texts (--abstain 0.8)"),
        ("at most 20%", "labels 100% of texts (--abstain 0.5)"),
    ]
    ((name, reason),) = attainable_errors(ErrorCurve(3, [0.5], [3], [3]))
    assert (name, "too few held-out texts" in reason) == ("not attainable", True)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("model", "words", "code", "says"),
    [
        ("m.npz", ("--max-error", "0.001"), 5, "Allow at least 0."),
        ("bare.npz", ("--max-error", "0.1"), 4, "--valid-share above 0"),
        ("m.npz", ("--max-error", "0.1", "--abstain", "0.9"), 2, "use only one of them"),
        ("m.npz", ("--max-error", "0"), 2, "--max-error"),
        ("m.npz", ("--max-error", "nan"), 2, "--max-error"),
        ("m.npz", ("--abstain", "1.1"), 2, "--abstain"),
    ],
    ids=str,
)
def test_invalid_thresholds_are_rejected(command, model, words, code, says, folder):
    exit_code, message = failure(command, folder / "valid.tsv", "-m", folder / model, *words)
    assert exit_code == code
    assert says in message


@pytest.mark.parametrize("layout", ["text", "csv", "tsv", "jsonl"])
def test_with_prior_texts_without_a_known_word_get_the_most_frequent_label(layout, folder):
    plain, labelled = (predict(folder, "--format", layout, *words) for words in ((), ("--prior",)))
    *same, before = plain.lines
    *unchanged, after = labelled.lines
    assert unchanged == same
    assert after == before.replace("?", "neg")  # neg is more frequent: 600 of 1,100 labels
    assert "(<stdin>:4): labelled according to the label frequencies in the training data" in labelled.stderr


def test_the_confidence_of_the_prior_is_its_fraction_of_the_training_texts(folder):
    *_, row = (json.loads(line) for line in predict(folder, "--json", "--prior").lines)
    assert (row["label"], row["confidence"]) == ("neg", row["prob_neg"])
    texts = (folder / "train.tsv").read_text().splitlines()[1:]
    share = sum("neg" in line.split("\t") for line in texts) / len(texts)
    assert row["confidence"] == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(
    ("abstain", "label", "note"), [("0.5", "neg", "labelled according to"), ("0.65", "?", "labelled ?, with")]
)
def test_abstain_applies_to_the_prior_too(abstain, label, note, folder):
    result = predict(folder, "--prior", "--abstain", abstain)
    assert result.rows[-1][0] == label
    assert f"(<stdin>:4): {note} the label frequencies" in result.stderr
    answered = sum(row[0] != "?" for row in result.rows)
    assert f"labelled {answered} of 4 texts" in result.stderr


def test_prior_and_max_error_contradict_each_other(folder):
    code, message = failure("predict", "-m", folder / "m.npz", "--prior", "--max-error", "0.2", stdin=LINES)
    assert code == 2
    assert "Use --abstain P instead of --max-error" in message


# ---------------------------------------------------------------- evaluate


def test_evaluate_reports_on_the_answered_texts(folder):
    words = ("evaluate", folder / "valid.tsv", "-m", folder / "m.npz", "-j", "1", "-q")
    everything, answered = (call(*words, "--json", *more).json for more in ((), ("--abstain", "0.8")))
    rows = [
        json.loads(line)
        for line in predict(folder, folder / "valid.tsv", "--format", "jsonl", "--abstain", "0.8").lines
    ]
    labelled = [(row["label"], row["predicted_label"]) for row in rows if row["predicted_label"] != "?"]
    assert 0 < answered["texts"] == len(labelled) < everything["texts"] == len(rows)
    assert answered["accuracy"] == sum(true == label for true, label in labelled) / len(labelled)
    assert answered["coverage"] == len(labelled) / len(rows)
    assert (answered["confidence"], everything["confidence"], everything["coverage"]) == (0.8, None, 1)
    assert answered["coverage_curve"] == everything["coverage_curve"]
    assert (
        f"{answered['coverage']:.2%} of {len(rows)}, confidence at least 0.8" in call(*words, "--abstain", "0.8").text
    )


def test_evaluate_draws_accuracy_against_coverage(folder):
    words = ("evaluate", folder / "valid.tsv", "-m", folder / "m.npz", "-j", "1")
    report, shown = call(*words, "--json").json, call(*words).text
    first = report["coverage_curve"][0]
    assert first == {**first, "coverage": 1, "accuracy": report["accuracy"], "texts": report["texts"]}
    assert all(
        before["texts"] > after["texts"]
        for before, after in zip(report["coverage_curve"], report["coverage_curve"][1:], strict=False)
    )
    assert 0 < report["aurc"] < 1 - report["accuracy"]
    for point in report["coverage_curve"]:
        (row,) = [line.split() for line in shown.split("\n") if line.split()[:1] == [f"{point['coverage']:.0%}"]]
        assert row[2:] == [f"{point['accuracy']:.2%}", str(point["texts"])]
        labelled = predict(folder, folder / "valid.tsv", "--abstain", row[1])
        assert f"labelled {point['texts']} of" in labelled.stderr
    assert f"AURC {report['aurc']:.4f}" in shown
    assert shown.count("┤") == 10


def test_evaluate_answers_no_text_without_a_known_word(folder, tmp_path):
    path = write_tsv(tmp_path / "a.tsv", [("great superb film", "pos"), ("zzz", "neg"), ("", "neg")])
    report = call("evaluate", path, "-m", folder / "m.npz", "--json", "--abstain", "0").json
    assert (report["texts"], report["accuracy"], report["coverage"]) == (1, 1, pytest.approx(1 / 3))


def test_evaluate_fails_if_no_text_is_answered(folder):
    code, message = failure("evaluate", folder / "valid.tsv", "-m", folder / "m.npz", "--abstain", "1")
    assert (code, "no text has a confidence of 1" in message, "--abstain" in message) == (3, True, True)


def test_min_accuracy_applies_to_the_answered_texts(folder):
    words = ("evaluate", folder / "valid.tsv", "-m", folder / "m.npz", "--json")
    accuracy = call(*words, "--abstain", "0.8").json["accuracy"]
    assert accuracy > call(*words).json["accuracy"]
    call(*words, "--abstain", "0.8", "--min-accuracy", accuracy)
    assert failure(*words, "--min-accuracy", accuracy)[0] == 5


def test_evaluate_plots_the_coverage_curve(folder):
    pytest.importorskip("matplotlib", reason="pictures need the plot extra")
    words = ("evaluate", folder / "valid.tsv", "-m", folder / "m.npz", "-q", "--plot")
    call(*words, folder / "curve.svg")
    assert b"coverage" in (folder / "curve.svg").read_bytes()


def test_unsupported_picture_format_is_rejected_before_scoring(folder):
    words = ("evaluate", folder / "none.tsv", "-m", folder / "m.npz", "--plot", "curve.gif")
    assert failure(*words) == (2, "curve.gif: the name of a picture must end in one of .png, .svg, .pdf\n")


def test_a_table_without_any_prediction_cannot_be_plotted(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the plot extra")
    table = tmp_path / "table.csv"
    table.write_text("text,label,predicted,confidence\ngood,pos,?,\nbad,neg,?,\n")
    words = ("evaluate", "-m", table, "--plot", tmp_path / "curve.svg")
    assert "no text has a prediction, so there is nothing to plot" in failure(*words)[1]
    assert not (tmp_path / "curve.svg").exists()
    table.write_text("text,label,predicted,confidence\ngood,pos,pos,0.75\nbad,neg,?,\n")
    call(*words)
    assert b"ECE 25.0%" in (tmp_path / "curve.svg").read_bytes()
