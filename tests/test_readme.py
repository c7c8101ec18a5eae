"""What the README shows and links to exists, and its Python example runs; test_guides.py runs its commands."""

from __future__ import annotations

import re

import pandas as pd
from guides import ROOT, commands_in, read_guide

README = read_guide("README.md")
COMMANDS = [command.text for command in commands_in("README.md")]


def test_the_readme_shows_all_commands():
    shown = {word for command in COMMANDS for word in re.findall(r"nlptx (\w+)", command)}
    assert shown >= {"cooccur", "pca", "train", "predict", "evaluate", "neighbors", "explain", "info"}


def test_the_demo_of_the_makefile_runs_the_same_commands():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ndemo:")[1].split("\n\n")[0]
    demo = [line.strip() for line in recipe.splitlines() if line.strip().startswith("nlptx")]
    assert [command for command in demo if command not in COMMANDS] == []


def test_every_linked_file_exists():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert all((ROOT / link).exists() for link in links)


def test_the_python_example_runs():
    import nlptx

    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    data = nlptx.read_training_data(ROOT / "data/train.tsv")
    texts, labels = data.texts[::5], data.labels[::5]
    scope = {"nlptx": nlptx, "texts": texts, "labels": labels, "frame": pd.DataFrame({"text": texts[:3]})}
    lines = [line.split("#")[0].rstrip() for line in example.splitlines()]
    scope["__name__"] = "example"
    exec(re.sub(r"(?m)^.*model\.npz.*$", "", "\n".join(lines)), scope)
    texts = ["a good film", "a dull book"]
    assert scope["model"].predict(texts) == scope["classifier"].predict(texts).tolist()
