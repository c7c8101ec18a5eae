"""Tests of the report in headless Chromium: errors, requests, control by keyboard, and the layout on a phone."""

import pytest
from browser import Browser, needs_chromium
from calling import call
from command import run
from sample_data import TRAIN, make_rows, write_tsv

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(work, tmp_path_factory):
    """A report with right and wrong predictions of five labels; some labels and groups have long names."""
    folder = tmp_path_factory.mktemp("page")
    rows = make_rows(("drama", "comedy", "western", "neg", "pos"), 120, seed=4)
    rows = [(text, label * (20 if label == "neg" else 1)) for text, label in rows]
    write_tsv(folder / "train.tsv", rows)
    wrong = [(text, rows[n + 1][1] if n % 4 == 0 else label) for n, (text, label) in enumerate(rows[:-1])]
    lines = [f"{text}\t{label}\t{'g' * (n % 3 * 60)}" for n, (text, label) in enumerate(wrong)]
    (folder / "data.tsv").write_text("text\tlabel\tgroup\n" + "\n".join(lines) + "\n")
    run("train", "train.tsv", "-e", work / "embeddings.npz", *TRAIN, "-o", "m.npz", "-q", cwd=folder)
    words = ("evaluate", folder / "data.tsv", "-m", folder / "m.npz", "--by", "group", "-q")
    call(*words, "--report", folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_has_no_error_makes_no_request_and_fits(width, dark, browser, page):
    browser.open(page, width, dark=dark)
    assert browser.problems() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 22, 26)" if dark else "rgb(251, 251, 250)")


def test_hidden_controls_appear_with_the_script(browser, page):
    browser.open(page)
    assert browser.run("[...document.querySelectorAll('[hidden]')].length") == 0


def test_the_theme_changes_by_keyboard(browser, page):
    browser.open(page)
    browser.tab_to("theme")
    browser.press("Enter")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
    assert browser.run("document.getElementById('theme').textContent") == "Light colours"
    browser.press(" ")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(251, 251, 250)"


def test_the_threshold_moves_by_keyboard(browser, page):
    browser.open(page)
    browser.tab_to("threshold")
    read = "['threshold-value', 'at-coverage', 'at-errors'].map(id => document.getElementById(id).textContent)"
    first = browser.run(read)
    assert first[1] == "100.0%"
    browser.press("ArrowRight", "ArrowRight")
    second = browser.run(read)
    assert float(second[0]) > float(first[0])
    assert float(second[1].rstrip("%")) < 100
    dot = browser.run("document.getElementById('coverage-dot').getAttribute('cx')")
    browser.press("End")
    assert float(browser.run("document.getElementById('coverage-dot').getAttribute('cx')")) < float(dot)
    assert "coverage" in browser.run("document.getElementById('threshold').getAttribute('aria-valuetext')")
    assert browser.problems() == []


def shown(browser):
    return browser.run("[...document.querySelectorAll('.texts > li')].filter(item => !item.hidden).length")


def test_texts_are_found_by_keyboard(browser, page):
    browser.open(page)
    everything = shown(browser)
    browser.tab_to("search")
    browser.press(*"horse")
    found = shown(browser)
    assert 0 < found < everything
    visible = "[...document.querySelectorAll('.texts > li')].filter(item => !item.hidden)"
    assert browser.run(f"{visible}.every(item => item.textContent.toLowerCase().includes('horse'))")
    assert browser.run("document.getElementById('found').textContent") == f"{found} of {everything} texts"
    browser.tab_to("filter-result")
    browser.press("ArrowDown")  # select "wrong"
    wrong = shown(browser)
    assert 0 < wrong <= found
    assert browser.run(f"{visible}.every(item => item.textContent.includes('✗ wrong'))")
    browser.tab_to("filter-true")
    browser.press("ArrowDown")
    assert shown(browser) < wrong
    browser.press("Tab", "Tab", "Enter")
    browser.run("new Promise(done => setTimeout(done))")  # wait, because the form is reset after the event
    assert shown(browser) == everything
    assert browser.problems() == []


def test_a_cell_of_the_confusion_matrix_shows_its_texts(browser, page):
    browser.open(page)
    cell = "[...document.querySelectorAll('.wrong-1 a, .wrong-2 a')][0]"
    browser.run(f"{cell}.focus()")
    count = int(browser.run(f"{cell}.querySelector('b').textContent"))
    browser.press("Enter")
    assert browser.run("location.hash") == "#texts"
    assert 0 < shown(browser) <= count
    browser.tab_to("filter-true")


def test_on_paper_controls_are_gone_and_details_are_open(browser, page):
    browser.open(page, dark=True)
    browser.ask("Page.printToPDF")
    assert browser.run("[...document.querySelectorAll('details')].every(part => part.open)")
    browser.open(page, dark=True, media="print")
    assert browser.run("getComputedStyle(document.getElementById('filters')).display") == "none"
    assert browser.run("getComputedStyle(document.body).color") == "rgb(27, 29, 33)"


def test_hostile_texts_run_no_script(browser, hostile):
    browser.open(hostile, 360)
    assert browser.problems() == []
    assert browser.requests() == [hostile.as_uri()]
    assert not [event for event in browser.events if event.get("method") == "Page.javascriptDialogOpening"]
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run("document.querySelectorAll('.texts > li').length") > 0
