"""A report whose contents were written by an attacker."""

import json

import pytest
from command import run
from hostile_strings import EVIL
from sample_data import LABEL_WORDS


@pytest.fixture(scope="package")
def hostile(work, tmp_path_factory):
    """A report whose texts, labels, columns, groups, file names and model card are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    labels = dict(zip(LABEL_WORDS, EVIL, strict=False))
    name = f"{EVIL[2]}<b>.jsonl".replace("/", "")
    rows = []
    for number, line in enumerate((work / "kinds.tsv").read_text().splitlines()[1:]):
        text, label = line.split("\t")
        more = EVIL[number % len(EVIL)] + "\x00\x1b[31m\x08\ud800\ufffe"
        rows.append(json.dumps({"text": f"{text} {more}", "label": labels[label], EVIL[3]: EVIL[0], EVIL[0]: more}))
    (folder / name).write_text("\n".join(rows) + "\n")
    (folder / "card.json").write_text(json.dumps({EVIL[0]: {EVIL[1]: EVIL[5]}, "purpose": list(EVIL)}))
    model = f"{EVIL[5]}<i>.npz".replace("/", "")
    words = ("train", name, "-e", work / "embeddings.npz", "--epochs", "1", "--heads", "2", "--card", "card.json")
    run(*words, "-q", "-o", model, cwd=folder)
    run("evaluate", name, "-m", model, "--by", EVIL[3], "--by", EVIL[0], "-q", "--report", "r.html", cwd=folder)
    return folder / "r.html"
