"""The guided reading, nlptx/nn/README.md: every snippet prints what stands below it, and every file it names exists."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np

import nlptx.nn

FOLDER = Path(nlptx.nn.__file__).parent
READING = (FOLDER / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", READING, re.MULTILINE | re.DOTALL)


def test_every_snippet_prints_what_stands_below_it():
    session = {"__name__": "reading"}
    with np.printoptions():  # restores the options that a snippet sets
        for code, wanted in SNIPPETS:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, session)
            assert printed.getvalue().splitlines() == wanted.splitlines(), code
    assert len(SNIPPETS) == READING.count("```python")


def test_the_steps_are_those_of_the_methods_table_in_its_order():
    numbers = re.findall(r"(?m)^## (\d+)(?: and (\d+))?\. ", READING)
    assert [int(number) for pair in numbers for number in pair if number] == list(range(1, 22))


def test_every_link_leads_to_a_file_and_every_name_beside_it_is_there():
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
