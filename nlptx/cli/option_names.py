"""Replace names of settings and arguments in library messages by command-line options."""

from __future__ import annotations

import re
from dataclasses import fields

from nlptx.corpus.document import ReadOptions
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

_SETTINGS = (CountSettings, PcaSettings, TrainSettings, ReadOptions)
# Arguments of library functions that are also options with the same name.
_ARGUMENTS = {"jobs", "label", "memory", "resume", "seed", "tmp_dir", "unlabelled", "valid"}
_NAMES = _ARGUMENTS | {item.name for cls in _SETTINGS for item in fields(cls)}
_IRREGULAR = {"format": "--input-format", "splits": "--split", "splits=()": "--split all"}
_NAMED = re.compile(r"`([a-z_0-9]+)(?:=([^`\s]+))?`")


def as_options(text: str) -> str:
    """Return a library message with setting and argument names replaced by options.

    >>> as_options("`min_count` is 0; give `min_count=1`, `lowercase=False` or `resume=True`")
    '--min-count is 0; give --min-count 1, --no-lowercase or --resume'
    """
    return _NAMED.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    whole, (name, value) = found[0], found.groups()
    if name not in _NAMES:
        return whole
    if whole.strip("`") in _IRREGULAR:
        return _IRREGULAR[whole.strip("`")]
    option = _IRREGULAR.get(name) or "--" + name.replace("_", "-")
    if value in ("True", "False"):
        return option if value == "True" else f"--no-{option[2:]}"
    return option if value is None else f"{option} {value}"
