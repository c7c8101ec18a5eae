"""The report of ``nlptx check``, as tables or as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nlptx.cli.terminal.option_names import as_options
from nlptx.cli.terminal.reporter import Reporter, neutralised
from nlptx.data_quality.kinds import KINDS
from nlptx.errors import listed

if TYPE_CHECKING:
    from nlptx.data_quality.check import Check
    from nlptx.data_quality.findings import Finding
    from nlptx.data_quality.profile import Lengths

# Maximum numbers of labels in the table of labels, of listed columns, and of characters shown per text.
_LABELS, _COLUMNS, _CHARACTERS = 20, 20, 70


def as_json(result: Check, examples: int) -> dict[str, Any]:
    """Return the report as JSON values, with at most ``examples`` rows of each fault."""
    faults = {
        kind: {
            "count": result.number_of(kind),
            "title": about.title,
            "advice": as_options(about.advice),
            "certain": about.certain,
            "examples": [],
        }
        for kind, about in KINDS.items()
        if result.number_of(kind)
    }
    for finding in result.findings:
        faults[finding.kind]["examples"] = _examples(result, finding, examples)
    if result.profile.unreadable:
        unreadable = result.rows.unreadable_positions[:examples]
        faults["unreadable-rows"]["examples"] = [{"where": where} for where in unreadable]
    return {"profile": asdict(result.profile), "faults": faults}


def _examples(result: Check, finding: Finding, count: int) -> list[dict[str, Any]]:
    """Return the first rows of a finding as JSON values: position, beginning of the text, labels, and scores."""
    from nlptx.corpus.exclusion import excerpt

    shown: list[dict[str, Any]] = []
    documents, labels = result.rows.documents, result.rows.labels
    for index, row in enumerate(finding.rows[:count].tolist()):
        example: dict[str, Any] = {"where": documents[row].where, "text": excerpt(documents[row].text)}
        if labels[row] is not None:
            example["label"] = result.rows.joined(labels[row])
        if finding.others is not None:
            other = int(finding.others[index])
            example["other"] = documents[other].where
            if labels[other] is not None:
                example["other_label"] = result.rows.joined(labels[other])
        if finding.suggested is not None:
            example["suggested"] = finding.suggested[index]
        if finding.scores is not None:
            example["score"] = round(float(finding.scores[index]), 4)
        shown.append(example)
    return shown


def draw_check(names: list[str], result: Check, examples: int, reporter: Reporter) -> None:
    """Print the report as tables."""
    profile = result.profile
    columns = listed(profile.columns, _COLUMNS)
    facts: list[tuple[str, Any]] = [
        ("data", " ".join(names)),
        *([("columns", columns)] if columns else []),
        ("texts", profile.texts),
        ("without a text", profile.without_text),
        ("without a label", profile.without_label),
        *([("with none of the labels", profile.empty_label_sets)] if profile.empty_label_sets is not None else []),
        *([("rows that cannot be read", profile.unreadable)] if profile.unreadable else []),
    ]
    reporter.facts("profile", facts)
    lengths = [_length_row("words", profile.words), _length_row("characters", profile.characters)]
    percentiles = [f"{p}%" for p in profile.words.percentiles]
    reporter.table("lengths, with percentiles", ("", *percentiles, "maximum", "longest text"), lengths)
    if profile.labels:
        more = f", the {_LABELS} most frequent of {len(profile.labels):,}" if len(profile.labels) > _LABELS else ""
        shown = [(each.label, each.texts, f"{each.fraction:.2%}") for each in profile.labels[:_LABELS]]
        reporter.table(f"labels{more}", ("label", "texts", "fraction"), shown)
    kinds = [kind for kind in KINDS if result.number_of(kind)]
    if not kinds:
        reporter.lines("faults", ["none"])
        return
    overview = [(kind, result.number_of(kind), KINDS[kind].title) for kind in kinds]
    reporter.table("faults", ("kind", "rows", ""), overview)
    by_kind = {finding.kind: finding for finding in result.findings}
    for kind in kinds:
        shown_examples = _examples(result, by_kind[kind], examples) if kind in by_kind else []
        lines = [neutralised(_line(example)) for example in shown_examples]
        if kind == "unreadable-rows":
            lines = [neutralised(f"  {where}") for where in result.rows.unreadable_positions[:examples]]
        reporter.lines(f"{kind}: {as_options(KINDS[kind].advice)}", lines, records=True)


def _length_row(name: str, lengths: Lengths) -> tuple[Any, ...]:
    return (name, *lengths.percentiles.values(), lengths.maximum, lengths.where)


def _line(example: dict[str, Any]) -> str:
    """Return a description of an example, on one line."""
    text = example["text"]
    text = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]} ..."
    label = f"  [{example['label']}]" if "label" in example else ""
    parts = [f"  {example['where']}{label}  {text}"]
    if "other" in example:
        other = f" [{example['other_label']}]" if "other_label" in example else ""
        parts.append(
            f"same as {example['other']}{other}" if "score" not in example else f"like {example['other']}{other}"
        )
    if (suggested := example.get("suggested")) is not None:
        parts.append(f"probably {suggested or 'no label'}")
    if "score" in example:
        parts.append(f"score {example['score']:.2f}")
    return "  ".join(parts)
