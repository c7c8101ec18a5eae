"""Tests of the page of `nlptx evaluate --report`: its contents, and that hostile texts cannot change it."""

import json
import re

import pytest
from calling import call, last_of_each
from command import refused, run
from hostile_strings import EVIL
from html_page import Page
from label_sets import make_sets, small_model, write_sets
from sample_data import LABEL_WORDS, TRAIN, make_rows, write_tsv


def page_of(path):
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report(work, tmp_path_factory):
    """The report on kinds.npz, tested on kinds.tsv with an additional column of groups."""
    folder = tmp_path_factory.mktemp("report")
    lines = (work / "kinds.tsv").read_text().splitlines()
    rows = [f"{line}\t{'even' if number % 2 else 'odd'}" for number, line in enumerate(lines[1:])]
    (folder / "data.tsv").write_text("\n".join([f"{lines[0]}\tparity", *rows]) + "\n")
    words = ("evaluate", folder / "data.tsv", "-m", work / "kinds.npz", "--by", "Parity", "-q", "-j", "1")
    call(*words, "--report", folder / "report.html")
    return folder


def test_the_page_has_all_parts(report, work):
    page = page_of(report / "report.html")
    shown = page.text()
    found = call("evaluate", report / "data.tsv", "-m", work / "kinds.npz", "--json", "-j", "1").json
    assert f"{100 * found['accuracy']:.1f}%" in shown
    for number in (f"{found['macro_f1']:.4f}", f"{found['log_loss']:.4f}", f"{100 * found['ece']:.2f}%"):
        assert number in shown
    titles = [text for _, text in page.find("h2")]
    assert titles == [
        *("Labels", "Calibration", "Confidence and coverage", "Groups and lengths", "Texts", "Model and data")
    ]
    charts = [found.get("id") for found, _ in page.find("figure")]
    names = ("roc", "precision-recall", "reliability", "bins", "coverage", "length")
    assert charts == [f"chart-{name}" for name in names]
    for row, counts in enumerate(found["confusion"]):
        for column, count in enumerate(counts):
            ((_, text),) = page.find("a", **{"data-true": str(row), "data-predicted": str(column)})
            assert text.startswith(f"{count:,}")
    assert "Parity" in shown
    assert "even" in shown


def test_the_page_ends_with_the_commands_that_make_it(report):
    ((_, text),) = page_of(report / "report.html").find("pre")
    lines = text.strip().splitlines()
    assert [line.split()[1] for line in lines] == ["cooccur", "pca", "train", "evaluate"]
    assert "--by Parity" in lines[-1]
    assert lines[-1].endswith("--report report.html")
    assert "-j" not in lines[-1].split()


def test_the_page_is_one_file_and_has_equal_bytes_for_any_number_of_cores(report, work, tmp_path):
    source = (report / "report.html").read_bytes()
    words = ("evaluate", report / "data.tsv", "-m", work / "kinds.npz", "--by", "Parity", "--json", "-j", "2")
    run(*words, "--report", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == source
    assert not re.search(rb"""(?:src|action|href)\s*=\s*["']?(?!["']?#)|@import|url\(""", source)


def test_links_lead_to_places_on_the_page_and_ids_are_unique(report):
    page = page_of(report / "report.html")
    names = [found["id"] for _, found, _ in page.elements if "id" in found]
    assert len(set(names)) == len(names)
    for _, found, _ in page.elements:
        for key in ("href", "for", "aria-labelledby"):
            for name in found.get(key, "").split():
                assert name.removeprefix("#") in names
    assert all(found.get("aria-label") or found.get("aria-labelledby") for found, _ in page.find("svg", role="img"))


def test_words_are_coloured_at_their_positions(report, work):
    page = page_of(report / "report.html")
    lines = [line.split("\t")[0] for line in (report / "data.tsv").read_text().splitlines()]
    texts = page.find("p", class_="text")
    assert 30 <= len(texts) <= 60
    assert {text for _, text in texts} <= set(lines)
    words = [text for found, text in page.find("span") if re.match("(for|against)-[1-5]", found.get("class", ""))]
    assert len(words) > 60
    assert set(words) <= {"word", *" ".join(lines).split()}  # the legend of the colours contains "word"


def test_hostile_texts_cannot_change_the_page(hostile):
    source = hostile.read_text(encoding="utf-8")
    page = Page(source)
    assert page.comments == []
    assert {found["type"] for found, _ in page.find("script") if found} == {"application/json"}
    assert len(page.find("script")) == 2
    assert {tag for tag, _, _ in page.elements}.isdisjoint({"img", "iframe", "object", "embed", "link"})
    assert not [key for _, found, _ in page.elements for key in found if key.startswith("on") or key == "style"]
    assert all(found["href"].startswith("#") for found, _ in page.find("a"))
    assert "{{ 7*7 }}" in page.text()
    for part in EVIL[:5]:
        assert part in page.text()
    for control in "\x00\x1b\x08\ufffe\ud800":
        assert control not in source
    assert "\u2400" in source
    ((_, data),) = page.find("script", type="application/json")
    assert json.loads(data)[0]["coverage"] == 1
    assert not re.search("[<>&\u2028\u2029]", data)


def test_the_policy_forbids_the_network(report):
    ((found, _),) = page_of(report / "report.html").find("meta", **{"http-equiv": "Content-Security-Policy"})
    policy = dict(part.split(maxsplit=1) for part in found["content"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"].startswith("'sha256-")
    assert policy["style-src"].startswith("'sha256-")
    assert set(policy) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}


def test_a_model_of_several_labels_has_the_parts_that_make_sense(tmp_path):
    small_model().save(tmp_path / "m.npz")
    write_sets(tmp_path / "d.tsv", *make_sets(60, seed=5))
    call("evaluate", tmp_path / "d.tsv", "-m", tmp_path / "m.npz", "-q", "--report", tmp_path / "r.html")
    page = page_of(tmp_path / "r.html")
    assert "micro-F1" in page.text()
    assert not page.find("table", class_="matrix")
    assert "threshold" in page.text()
    assert page.find("figure", id="chart-roc")


def test_a_table_of_predictions_has_a_report_without_a_model(work, model, tmp_path):
    for name, columns in (("full", 5), ("bare", 0)):
        call("predict", work / "test.tsv", "-m", model, "-o", tmp_path / "p.csv", "-q")
        lines = (tmp_path / "p.csv").read_text().splitlines()
        header = lines[0].replace("predicted_label", "predicted").split(",")
        keep = len(header) if columns else header.index("predicted") + 1
        table = [header[:keep], *(line.split(",")[:keep] for line in lines[1:])]
        (tmp_path / "t.csv").write_text("\n".join(map(",".join, table)) + "\n")
        call("evaluate", "-m", tmp_path / "t.csv", "-q", "--report", tmp_path / f"{name}.html")
        page = page_of(tmp_path / f"{name}.html")
        titles = [text for _, text in page.find("h2")]
        assert ("Calibration" in titles) == bool(columns)
        assert ("before calibration" not in page.text()) or not columns
        assert page.find("table", class_="matrix")
        assert "nan" not in page.text().lower()


def test_the_page_about_one_text_has_no_plural(tmp_path):
    (tmp_path / "t.csv").write_text("text,label,predicted,prob_neg,prob_pos\nfine,pos,pos,0.2,0.8\n")
    call("evaluate", "-m", tmp_path / "t.csv", "-q", "--report", tmp_path / "r.html")
    source = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert not re.search(r"\b1 texts", source)
    for part in (
        "of 1 text is predicted correctly",
        "Listed: 1 of 1 text,",
        ">1 text</title>",
        'aria-label="1 text, true',
    ):
        assert part in source


def test_a_page_counts_texts_without_an_answer(tmp_path):
    answers = ["neg,neg,0.9", "neg,?,0.8", "neg,pos,0.7", "neg,?,0.9", "pos,pos,0.6"]
    rows = [f"text {number},{answer}" for number, answer in enumerate(answers)]
    (tmp_path / "t.csv").write_text("\n".join(["text,label,predicted,confidence", *rows]) + "\n")
    call("evaluate", "-m", tmp_path / "t.csv", "-q", "--report", tmp_path / "r.html")
    page = page_of(tmp_path / "r.html")
    assert page.find("ul", class_="notes")[0][1].strip() == "texts without an answer (counted as wrong): 2 of 5"
    cells = [text for found, text in page.find("a") if "data-true" in found]
    shares = [text.split("\n")[0].replace("\u00a0", " ") for text in cells]
    assert shares == ["125.0%", "125.0%", "00.0%", "1100.0%"]
    assert "including those without an answer" in page.text()
    listed = [" ".join(text.split()) for _, text in page.find("p", class_="verdict")]
    unanswered = [text for text in listed if "no answer" in text]
    assert (len(listed), len(unanswered)) == (5, 2)
    assert not any("predicted" in text or "%" in text for text in unanswered)
    call("compare", tmp_path / "t.csv", tmp_path / "t.csv", "-q", "--report", tmp_path / "c.html")
    assert page_of(tmp_path / "c.html").text().count("texts without an answer (counted as wrong): 2 of 5") == 2


def test_with_abstain_the_page_says_how_many_texts_are_evaluated(report, work, tmp_path):
    words = ("evaluate", report / "data.tsv", "-m", work / "kinds.npz", "-j", "1")
    threshold = call(*words, "--json").json["coverage_curve"][3]["confidence"]
    call(*words, "-q", "--abstain", str(threshold), "--report", tmp_path / "r.html")
    assert re.search(r"Labels are given to \d+ of 60 texts", page_of(tmp_path / "r.html").text())


def test_a_report_needs_a_file_that_ends_in_html(work, model, tmp_path):
    data = work / "test.tsv"
    refused("evaluate", data, "-m", model, "--report", "-", code=2, says="--report", untouched=tmp_path)
    refused("evaluate", data, "-m", model, "--report", tmp_path / "r.txt", code=2, says=".html", untouched=tmp_path)
    (tmp_path / "d.html").write_bytes(data.read_bytes())
    words = ("evaluate", tmp_path / "d.html", "--input-format", "tsv", "-m", model, "--report", tmp_path / "d.html")
    refused(*words, code=2, says="also an input", untouched=tmp_path)
    refused("evaluate", data, "-m", model, "--report", tmp_path / "no/r.html", code=1, says="mkdir -p")


def test_without_jinja2_a_message_says_what_to_install(work, model, tmp_path, monkeypatch):
    from nlptx.report import page

    page._environment.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    result = call("evaluate", work / "test.tsv", "-m", model, "--report", tmp_path / "r.html", code=1)
    assert "pip install 'nlptx[report]'" in result.stderr
    assert not list(tmp_path.iterdir())


def test_large_data_gives_a_small_page(work, model, tmp_path):
    lines = (work / "test.tsv").read_text().splitlines()
    long = [line.replace("\t", " film" * 800 + "\t") for line in lines[1:]] * 10
    (tmp_path / "d.tsv").write_text("\n".join([lines[0], *long]) + "\n")
    call("evaluate", tmp_path / "d.tsv", "-m", model, "-q", "--report", tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 400_000
    assert "of 310 texts, first the errors" in page_of(tmp_path / "r.html").text()


def test_with_many_labels_confusions_are_listed_and_six_curves_are_drawn(work, tmp_path):
    for seed, name in enumerate(("train.tsv", "d.tsv"), start=1):
        rows = make_rows(tuple(LABEL_WORDS), 60, seed=seed)
        write_tsv(tmp_path / name, [(text, f"{label} {n % 4}") for n, (text, label) in enumerate(rows)])
    words = last_of_each(*TRAIN, "--width", "64")
    run("train", "train.tsv", "-e", work / "embeddings.npz", *words, "-q", "-o", "m.npz", cwd=tmp_path)
    call("evaluate", tmp_path / "d.tsv", "-m", tmp_path / "m.npz", "-q", "--report", tmp_path / "r.html")
    page = page_of(tmp_path / "r.html")
    assert not page.find("table", class_="matrix")
    counts = [int(text) for found, text in page.find("a") if "data-true" in found]
    assert 0 < len(counts) <= 25
    assert counts == sorted(counts, reverse=True)
    assert len(page.find("ul", class_="legend")) == 2 + ("before calibration" in page.text())
    assert "The 6 most frequent labels are shown" in page.text()
