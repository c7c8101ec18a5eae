"""Writes settings to a TOML file for ``nlptx train --config``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nlptx.experiments.experiment import Recipe
from nlptx.experiments.search_space import Values, values_of
from nlptx.io.atomic_write import atomic_output
from nlptx.io.paths import FilePath

# The stages, in the order of their sections.
STAGES = ("cooccur", "pca", "train")


def non_default(values: Values) -> Values:
    """Return the settings that differ from the defaults of their stage (``cooccur``, ``pca`` or ``train``)."""
    defaults = values_of(Recipe())
    return {name: value for name, value in values.items() if value != defaults[name]}


def write_settings(path: FilePath, values: Values, comments: Sequence[str] = ()) -> None:
    """Write settings to a TOML file with a section per stage.

    Args:
        path: path of the file.
        values: settings, and other options of a stage, as ``stage.setting`` -> value.
        comments: lines of text to write as comments at the beginning of the file.

    Raises:
        OutputError: the file cannot be written.
    """
    lines = [f"# {line}" for line in comments]
    section = ""
    for name, value in sorted(values.items(), key=lambda item: STAGES.index(item[0].partition(".")[0])):
        stage, _, setting = name.partition(".")
        if stage != section:
            section = stage
            lines += ["", f"[{stage}]"]
        lines.append(f"{setting.replace('_', '-')} = {_toml(value)}")
    with atomic_output(path) as file:
        file.write(("\n".join(lines).lstrip("\n") + "\n").encode())


def _toml(value: Any) -> str:
    """Return a value in TOML. Strings, numbers and booleans are written as in JSON."""
    return json.dumps(value)
