"""The tutorial nlptx/nn/README.md: every snippet prints the output shown below it, and every linked file exists."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np

import nlptx.nn

FOLDER = Path(nlptx.nn.__file__).parent
READING = (FOLDER / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", READING, re.MULTILINE | re.DOTALL)


def test_every_snippet_prints_the_output_shown_below_it():
    session = {"__name__": "reading"}
    with np.printoptions():  # restores the print options that a snippet sets
        for code, expected in SNIPPETS:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, session)
            assert printed.getvalue().splitlines() == expected.splitlines(), code
    assert len(SNIPPETS) == READING.count("```python")


def test_the_steps_follow_the_order_of_the_method_table():
    numbers = re.findall(r"(?m)^## (\d+)(?: and (\d+))?\. ", READING)
    assert [int(number) for pair in numbers for number in pair if number] == list(range(1, 22))


def test_every_linked_file_exists_and_defines_the_names_beside_the_link():
    links = re.findall(r"\[([\w/.' ]+)\]\(([^)#]+)\)", READING)
    assert len(links) > 30
    assert [target for _, target in links if not (FOLDER / target).exists()] == []
    named = re.findall(r"\[[\w/.]+\]\(([^)]+\.py)\), `(\w+)(?:\.(\w+))?`", READING)
    named += [(file, name, "") for name, file in re.findall(r"`(\w+)`\s+in\s+\[[\w/.]+\]\(([^)]+\.py)\)", READING)]
    assert len(named) >= 8
    for file, *names in named:
        code = (FOLDER / file).read_text(encoding="utf-8")
        assert all(re.search(rf"(?m)^\s*(class|def) {name}\b", code) for name in names if name), (file, names)


def test_both_articles_are_cited():
    assert 'Peter Bloem, "Transformers from scratch", 18 August 2019' in READING
    assert 'Goldstraw, "Transformers"' in READING
    assert all(name in READING for name in ("RustTransformer", "WordEmbeddings"))
