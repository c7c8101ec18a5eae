"""Tests of ``nlptx explain`` for many texts, as JSON and as an HTML page, and for pairs of words."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
from calling import call, failure
from command import run

TEXTS = ["great film", "zzz qqq", "awful film zzz awful film", "a great great story"]


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.txt"
    path.write_text("\n".join(TEXTS) + "\n")
    return path


def test_each_text_of_a_file_is_explained_in_order(model, reviews):
    rows = [json.loads(line) for line in run("explain", "-m", model, "--input", reviews, "--json").lines]
    assert [row["where"] for row in rows] == [f"{reviews}:{line}" for line in range(1, 5)]
    assert [[word["word"] for word in row["words"]] for row in rows] == [text.split() for text in TEXTS]
    assert rows[1]["label"] is None
    assert rows[1]["probability"] is None
    for row, text in zip(rows, TEXTS, strict=True):
        if row["label"]:
            assert {"where": row["where"]} | call("explain", "-m", model, text, "--json").json == row
        assert "attention_shape" not in row


def test_the_output_does_not_depend_on_the_number_of_jobs(model, reviews):
    outputs = {run("explain", "-m", model, "--input", reviews, "--json", "-j", jobs).text for jobs in ("1", "3")}
    assert len(outputs) == 1


def test_the_form_as_which_an_unknown_word_is_read_is_shown(model, tmp_path):
    text = "qqq awfuls greats zzz"
    rows = [line.split("  ")[0].strip() for line in call("explain", "-m", model, text, "--pairs", "0").lines[2:]]
    words = call("explain", "-m", model, text, "--json").json["words"]
    assert [word["known"] for word in words] == [False] * 4
    assert [word["read_as"] for word in words] == [None, "awful", "great", None]
    assert [word["effect"] is None for word in words] == [True, False, False, True]
    assert rows[1:3] == ["awfuls (read as awful)", "greats (read as great)"]
    run("explain", "-m", model, text, "-o", tmp_path / "page.html")
    assert ", read as awful" in (tmp_path / "page.html").read_text()


def test_tables_are_read_from_standard_input(model):
    stdin = "id\ttext\n7\tgreat film\n8\tawful plot\n"
    shown = call("explain", "-m", model, "--input", "-", "--input-format", "tsv", stdin=stdin).lines
    assert [line.split()[0] for line in shown if "%" in line] == ["<stdin>:2", "<stdin>:3"]


def test_top_keeps_the_words_of_the_largest_effects(model, reviews):
    for row in map(json.loads, run("explain", "-m", model, "--input", reviews, "--json", "--top", "2").lines):
        complete = call("explain", "-m", model, "--json", TEXTS[int(row["where"][-1]) - 1], code=None)
        if row["label"] is None:
            assert row["words"] == []
            continue
        effects = sorted((abs(word["effect"]) for word in complete.json["words"] if word["effect"]), reverse=True)
        assert [abs(word["effect"]) for word in row["words"]] == effects[:2]


def test_the_interaction_of_a_pair_is_the_difference_of_two_effects(model):
    pairs = call("explain", "-m", model, "great film awful great", "--json").json["pairs"]
    assert len(pairs) <= 3
    for pair in pairs:
        assert pair["interaction"] == pytest.approx(pair["effect_with"] - pair["effect_without"], abs=1e-4)
    sizes = [abs(pair["interaction"]) for pair in pairs]
    assert sizes == sorted(sizes, reverse=True)
    assert call("explain", "-m", model, "great film awful", "--json", "--pairs", "0").json["pairs"] == []


def test_attention_matrices_of_many_texts_are_printed_on_request(model, reviews):
    rows = [
        json.loads(line)
        for line in run("explain", "-m", model, "--input", reviews, "--json", "--attention-weights").lines
    ]
    assert [row.get("attention_shape") for row in rows] == [[1, 2, 2, 2], None, [1, 2, 4, 4], [1, 2, 4, 4]]


class Page(HTMLParser):
    """Collects the tags, the attributes and the visible text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


HOSTILE = '<script>alert("1")</script> great film & awful <img src=x onerror=alert(1)> \x1b[31m </p>'


def test_a_page_escapes_the_markup_in_a_text(model, tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps({"text": HOSTILE}) + "\n" + json.dumps({"text": "great \ud800 film"}) + "\n")
    page = tmp_path / "page.html"
    run("explain", "-m", model, "--input", path, "-o", page)
    source = page.read_text(encoding="utf-8")
    found = Page(source)
    assert not found.tags & {"script", "img", "link", "iframe", "form", "a"}
    assert {name for name, _ in found.attributes} <= {
        *("lang", "charset", "http-equiv", "content", "name", "class", "style", "title", "dir")
    }
    assert HOSTILE.replace("\x1b", "\N{REPLACEMENT CHARACTER}") in found.text
    assert "default-src 'none'" in source
    assert not re.search(r"https?:|url\(|@import", source)
    assert "prefers-color-scheme: dark" in source
    assert source.endswith("</html>\n")


def test_a_page_colours_words_for_and_against_the_label(model):
    page = run("explain", "-m", model, "great film awful", "--label", "pos", "--format", "html").text
    spans = dict(re.findall(r'<span class="([fa])"[^>]*title="[^"]*">(\w+)</span>', page))
    assert spans["f"] == "great"
    assert spans["a"] == "awful"


@pytest.mark.parametrize(
    "text", ["I loved it", "It is a film. A bad film, it is!", "İt is ßad, Straße film", "Good Good good"]
)
def test_the_words_of_a_page_are_those_of_the_text(text):
    """Words are found at the right positions even if lower-casing changes the length of a word."""
    page = call("explain", "--format", "html", stdin=f"{text}\n").stdout.decode()
    assert text in " ".join(Page(page).text.split())


def test_windows_line_ends_are_line_breaks_on_a_page(model):
    page = call("explain", "--format", "html", stdin="I loved it\r\nIt is bad\r\n").stdout.decode()
    assert "\ufffd" not in page


def test_names_and_texts_written_from_right_to_left_do_not_move_their_neighbours(model, tmp_path):
    path = tmp_path / "סרט.txt"
    path.write_text("סרט great film\n", encoding="utf-8")
    page = run("explain", "-m", model, "--input", path, "--format", "html").text
    label = json.loads(run("explain", "-m", model, "--input", path, "--json").text)["label"]
    assert f"<bdi>{label}</bdi> <small>" in page
    assert f"<small><bdi>{path}:1</bdi></small>" in page
    assert '<p dir="auto">' in page
    assert page.count("“") == page.count("“<bdi>") == page.count("</bdi>”")


def test_a_long_label_does_not_widen_the_page(model):
    page = run("explain", "-m", model, "great film", "--format", "html").text
    (body,) = re.findall(r"^body \{[^}]*\}", page, re.MULTILINE)
    assert "overflow-wrap: anywhere" in body


def test_the_page_of_an_empty_file_is_complete(model, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    page = run("explain", "-m", model, "--input", empty, "--format", "html").text
    assert html.unescape(Page(page).text).strip().startswith("nlptx explain")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("great", "--input", "a.txt"), "not both"),
        (("great", "-o", "a.txt"), "*.jsonl or *.html"),
        (("great", "-o", "a.html", "--json"), "different formats"),
        (("great", "--attention-weights"), "add --json"),
        (("great", "--format", "html", "--attention-weights"), "--format html asks for another format"),
        (("great", "--top", "0"), "--top"),
        (("--input-format", "csv"), "add --input FILE"),
        (("great", "--skip-bad"), "--skip-bad has no effect, because the arguments are the text"),
    ],
)
def test_contradictions_are_refused(words, says, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, message = failure("explain", "-m", model, *words)
    assert code == 2
    assert says in message


def test_several_words_are_one_text(model):
    assert run("explain", "great", "film", "-m", model).stdout == run("explain", "great film", "-m", model).stdout


def test_invalid_utf8_in_standard_input_can_be_replaced(model):
    words = ("explain", "-m", model, "--json", "--encoding-errors", "replace")
    given = run(*words, stdin=b"\xef\xbb\xbfgood \xff film").json
    assert [word["word"] for word in given["words"]][:1] == ["good"]


def test_an_unknown_label_is_refused_before_the_first_text(model, reviews):
    code, message = failure("explain", "-m", model, "--input", reviews, "--label", "meh")
    assert code == 2
    assert failure("explain", "-m", model, "good", "--label", "meh") == (code, message)
    assert "'meh'" in message


def test_negated_words_are_shown_without_a_mark():
    words = call("explain", "It is not zqx good, zqx.", "--json").json["words"]
    assert [word["word"] for word in words] == ["it", "is", "not", "zqx", "good", ",", "zqx", "."]
    assert [word["word"] for word in words if word["negated"]] == ["zqx", "good"]
    lines = call("explain", "It is not zqx good, zqx.").lines
    assert [line.split(maxsplit=1)[1].strip() for line in lines if line.strip().startswith("zqx")] == [
        "unknown when negated",
        "unknown",
    ]


def test_a_dash_stands_for_standard_input(model):
    found = [call("explain", word, "-m", model, "--json", stdin="good film").json for word in ("-", "good film")]
    assert found[0] == found[1]
