"""Replaces the names of settings and arguments in library messages with command-line options."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields

from nlptx.corpus.read_options import ReadOptions
from nlptx.settings import CountSettings, PcaSettings, TrainSettings

_SETTINGS = (CountSettings, PcaSettings, TrainSettings, ReadOptions)
# Arguments of library functions for which there is an option with the same name.
_ARGUMENTS = {
    *("abstain", "by", "cluster", "embeddings", "folds", "group", "jobs", "label", "max_error", "measure"),
    *("lexicon", "memory", "report", "resume", "seed", "shuffle", "start", "tmp_dir", "unlabelled", "valid"),
}
# Names of settings and arguments that are replaced with the corresponding options. The settings guess_text and
# use_labels have no option: the first depends on --text-column, and the second on the command.
_NAMES = (_ARGUMENTS | {item.name for cls in _SETTINGS for item in fields(cls)}) - {"guess_text", "use_labels"}
_IRREGULAR = {"format": "--input-format", "label_map": "--map", "splits": "--split", "splits=()": "--split all"}
_NAMED = re.compile(r"`([a-z_0-9]+)(?:=([^`]+))?`")
# Matches a setting of cooccur or pca in a message from train. The command train has no option for such a setting, but
# --config can set it.
_OF_STAGE = re.compile(r"`(cooccur|pca)\.([a-z_0-9]+)`")


def as_options(text: str) -> str:
    """Return a library message in which the names of settings and arguments are replaced with options.

    >>> as_options("`min_count` is 0; give `min_count=1`, `lowercase=False` or `resume=True`")
    '--min-count is 0; give --min-count 1, --no-lowercase or --resume'
    >>> as_options("lower `cooccur.min_count`")
    'lower min-count in the section [cooccur] of --config FILE'
    """
    return _OF_STAGE.sub(_in_section, _NAMED.sub(_option, text))


def _in_section(match: re.Match[str]) -> str:
    return f"{match[2].replace('_', '-')} in the section [{match[1]}] of --config FILE"


def _option(match: re.Match[str]) -> str:
    quoted, (name, value) = match[0], match.groups()
    if name not in _NAMES:
        return quoted
    if quoted.strip("`") in _IRREGULAR:
        return _IRREGULAR[quoted.strip("`")]
    option = _IRREGULAR.get(name) or "--" + name.replace("_", "-")
    if value in ("True", "False"):
        return option if value == "True" else f"--no-{option[2:]}"
    return option if value is None else f"{option} {shlex.quote(value)}"
