"""Tests of the pages of `nlptx compare --report` and `nlptx crossvalidate --report`."""

import json
import shlex

import pytest
from browser import Browser, needs_chromium
from calling import call
from command import run
from html_page import Page
from label_sets import make_sets, small_model, write_sets
from sample_data import make_rows, write_tsv

from nlptx.evaluation.prediction_file import read_predictions
from nlptx.metrics import calibration_error

EVIL = "<script>alert(1)</script>--></script>{{ 7*7 }}\"'&lt;\x1b\u2028"
# Settings that make training quick.
QUICK = ("--folds", "3", "--epochs", "1", "--heads", "2", "--ngrams", "0", "-q", "-j", "1")


@pytest.fixture(scope="module")
def compared(work, tmp_path_factory):
    """A comparison of a model with two tables of predictions, for texts with characters that are special in HTML."""
    folder = tmp_path_factory.mktemp("compared")
    rows = make_rows(("neg", "pos"), 40, seed=6)
    for name, step in (("a<b>'.jsonl", 4), ("other.jsonl", 5)):
        lines = []
        for number, (text, label) in enumerate(rows):
            wrong = number % step == 0
            predicted = {"neg": "pos", "pos": "neg"}[label] if wrong else label
            probability = 0.6 if wrong else 0.9
            found = {"text": f"{text} {number} {EVIL}", "label": label, "predicted": predicted}
            other = {"neg": "pos", "pos": "neg"}[predicted]
            lines.append(json.dumps(found | {f"prob_{predicted}": probability, f"prob_{other}": 1 - probability}))
        (folder / name).write_text("\n".join(lines) + "\n")
    words = ("compare", "a<b>'.jsonl", "other.jsonl", work / "model.npz", "-q")
    found = run(*words, "--json", "--report", "r.html", cwd=folder).json
    return folder / "r.html", found


def test_the_comparison_has_all_parts_and_escapes_texts(compared):
    path, found = compared
    source = path.read_text(encoding="utf-8")
    page = Page(source)
    titles = [text for _, text in page.find("h2")]
    assert titles == ["Models", "Differences", "Calibration", "Texts", "Make this report again"]
    for pair in found["pairs"]:
        assert pair["verdict"] in page.text()
        assert f"{pair['only_first']:,}" in page.text()
    assert len(page.find("figure")) == 3
    assert page.comments == []
    assert len(page.find("script")) == 1
    assert "\x1b" not in source
    assert EVIL[:20] in page.text()
    for number in ("1", "2"):
        pair = found["pairs"][int(number) - 1]
        for place, count in (("1", pair["only_first"]), ("2", pair["only_second"])):
            assert len(page.find("li", **{"data-kind": f"{number}-{place}"})) == min(count, 25)


def test_the_page_says_that_there_are_few_groups(tmp_path):
    for name, wrong in (("a.csv", 3), ("b.csv", 4)):
        rows = [f"text {n},{'ab'[n % 2]},{'ab'[n % 2 ^ (n % wrong == 0)]},g{n % 3}" for n in range(30)]
        (tmp_path / name).write_text("\n".join(["text,label,predicted,author", *rows]))
    call("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--group", "author", "-q", "--report", tmp_path / "r.html")
    shown = Page((tmp_path / "r.html").read_text()).text()
    assert "with only 3 groups, the intervals are too narrow, and no difference can be significant" in shown
    assert "unless there are few groups; then use the p-value" in shown


def test_sets_of_labels_can_be_compared_on_a_page(tmp_path):
    small_model().save(tmp_path / "m.npz")
    write_sets(tmp_path / "d.tsv", *make_sets(40, seed=5))
    words = ("compare", tmp_path / "m.npz", tmp_path / "m.npz", tmp_path / "d.tsv", "-q", "-j", "1")
    call(*words, "--report", tmp_path / "r.html")
    assert "No difference can be shown" in Page((tmp_path / "r.html").read_text()).text()


@pytest.fixture(scope="module")
def validated(work, tmp_path_factory):
    """The page and the results of a cross-validation with two seeds."""
    folder = tmp_path_factory.mktemp("validated")
    write_tsv(folder / "d.tsv", make_rows(("neg", "pos"), 60, seed=6))
    words = ("crossvalidate", folder / "d.tsv", "-e", work / "embeddings.npz", *QUICK, "--seeds", "2", "--json")
    found = call(*words, "--report", folder / "r.html", "--predictions", folder / "folds.csv").json
    return folder / "r.html", found


def test_the_cross_validation_has_folds_and_figures_out_of_fold(validated):
    path, found = validated
    page = Page(path.read_text(encoding="utf-8"))
    titles = [text for _, text in page.find("h2")]
    assert titles[:2] == ["Folds", "Labels"]
    for fold in found["folds"]:
        assert f"{fold['log_loss']:.4f}" in page.text()
    assert f"{100 * found['interval'][0]:.1f}%" in page.text()
    ((_, tiles),) = page.find("dl", class_="figures")
    for name, value in (
        ("accuracy", f"{100 * found['accuracy']:.1f}%"),
        ("macro-F1", f"{found['macro_f1']:.4f}"),
    ):
        assert f"mean {name}{value}" in tiles
    assert f"mean log-loss{found['log_loss']:.4f}" in tiles
    together = read_predictions(str(path.with_name("folds.csv")))
    error = calibration_error(together.confidence, together.correct)
    of_first = calibration_error(together.confidence[:60], together.correct[:60])
    assert f"{100 * error:.2f}" != f"{100 * of_first:.2f}"
    assert f"calibration error{100 * error:.2f}% from the predictions of all seeds; a perfectly" in tiles
    matrix = [int(text.replace(",", "")) for _, text in page.find("b")[6:10]]
    assert sum(matrix) == 60
    command = page.find("pre")[0][1].split()
    assert command[:2] == ["nlptx", "crossvalidate"]
    assert "--report report.html" in " ".join(command)
    assert "--epochs 1" in " ".join(command)


def test_sets_of_labels_can_be_cross_validated_on_a_page(tmp_path):
    write_sets(tmp_path / "d.tsv", *make_sets(60, seed=5))
    (tmp_path / "c.toml").write_text("[cooccur]\nmin-count = 1\n[pca]\ncomponents = 8\n")
    words = ("crossvalidate", tmp_path / "d.tsv", "--label-separator", ";", "--config", tmp_path / "c.toml", *QUICK)
    call(*words, "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "micro-F1" in Page(page).text()
    assert ">nan<" not in page  # a label has a different threshold in each fold


@pytest.mark.parametrize(
    ("words", "variables", "shown"),
    [
        (["--effort", "fast"], {}, ["--effort fast"]),
        (["--config", "c.toml"], {}, ["--config c.toml"]),
        (["--config", "c.toml", "--effort", "fast"], {}, ["--config c.toml", "--effort fast"]),
        ([], {"PRESET": "bloem", "EPOCHS": "0", "NGRAMS": "2"}, ["--preset bloem", "--epochs 0"]),
        (["--config", "c.toml"], {"EFFORT": "best"}, ["--config c.toml", "--region-filters 0"]),
    ],
)
def test_the_printed_command_makes_the_same_page(tmp_path, monkeypatch, words, variables, shown):
    monkeypatch.chdir(tmp_path)
    write_tsv(tmp_path / "d.tsv", make_rows(("neg", "pos"), 30, seed=6))
    (tmp_path / "c.toml").write_text("[train]\nepochs = 0\nregion-filters = 0\nlsa-components = 3\n")
    with monkeypatch.context() as environment:
        for name, value in variables.items():
            environment.setenv(f"NLPTX_CROSSVALIDATE_{name}", value)
        call("crossvalidate", "d.tsv", "--folds", "2", *words, "-q", "-j", "1", "--report", "first.html")
    (command,) = [text.strip() for _, text in Page((tmp_path / "first.html").read_text()).find("pre")]
    assert all(word in command for word in shown)
    assert ("--epochs" in command) == ("EPOCHS" in variables or "EFFORT" in variables)
    call(*shlex.split(command)[1:], "-q", "-j", "1")
    assert (tmp_path / "report.html").read_text().partition(">nlptx crossvalidate")[0] == (
        (tmp_path / "first.html").read_text().partition(">nlptx crossvalidate")[0]
    )


@needs_chromium
def test_both_pages_work_in_a_browser(compared, validated, tmp_path):
    with Browser(tmp_path) as browser:
        for path, _ in (compared, validated):
            for width in (360, 1280):
                browser.open(path, width)
                assert browser.problems() == []
                assert browser.requests() == [path.as_uri()]
                assert browser.run("document.documentElement.scrollWidth") <= width
        browser.open(compared[0])
        shown = "[...document.querySelectorAll('.texts > li')].filter(item => !item.hidden).length"
        everything = browser.run(shown)
        browser.tab_to("filter-kind")
        browser.press("ArrowDown")
        assert 0 < browser.run(shown) < everything
