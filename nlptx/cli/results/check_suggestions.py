"""The texts that ``nlptx check --suggest`` lists, as a table or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nlptx.cli.terminal.reporter import Reporter, neutralised

if TYPE_CHECKING:
    from nlptx.data_quality.rows import DataRows
    from nlptx.data_quality.uncertainty_sampling import SuggestedTexts

# Maximum number of texts printed, and of characters printed per text. The JSON report and the table of --to-label
# contain all texts in full.
_SHOWN, _CHARACTERS = 20, 70
_DIGITS = 4


def suggested_as_json(suggested: SuggestedTexts | None, rows: DataRows) -> dict[str, Any]:
    """Return the suggested texts as JSON values, or the reason why there are none.

    The dictionary is empty if ``--suggest`` was not given.
    """
    if suggested is None:
        return {}
    if suggested.obstacle:
        return {"suggested": [], "none_suggested_because": suggested.obstacle}
    listed = zip(suggested.rows.tolist(), suggested.labels, suggested.probabilities.tolist(), strict=True)
    return {
        "suggested": [
            {
                "where": rows.documents[row].where,
                "text": rows.documents[row].text,
                "probable_label": rows.joined(labels),
                "probability": round(probability, _DIGITS),
            }
            for row, labels, probability in listed
        ]
    }


def draw_suggested(suggested: SuggestedTexts | None, rows: DataRows, reporter: Reporter) -> None:
    """If ``--suggest`` was given, print the first suggested texts, one per line, or the reason why there are none."""
    if suggested is None:
        return
    texts = suggested_as_json(suggested, rows)["suggested"]
    more = f", the first {_SHOWN} of {len(texts):,}" if len(texts) > _SHOWN else ""
    lines = []
    for each in texts[:_SHOWN]:
        text = " ".join(each["text"].split())
        text = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]} ..."
        guess = f"{each['probable_label'] or 'no label'} {each['probability']:.2f}"
        lines.append(neutralised(f"  {each['where']}  {text}  perhaps {guess}"))
    reporter.lines(f"texts most worth labelling{more}", lines or [f"  none: {suggested.obstacle}"], records=True)
