"""Writes explanations as one HTML page, in which words are coloured by their effect."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nlptx.cli.results.explanation_rows import ExplainedText, Word
from nlptx.cli.terminal.reporter import neutralised
from nlptx.report.word_spans import token_starts

# Blue and vermilion are from the palette of Okabe & Ito, whose colours can be told apart by colour-blind people. Words
# that decrease the probability of the label are also underlined, so that the page can be printed in grey. The
# Content-Security-Policy forbids scripts and network requests.
PAGE_START = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>nlptx explain</title>
<style>
:root { color-scheme: light dark; --text: #1b1b1b; --page: #ffffff; --dim: #5c5c5c; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --page: #161616; --dim: #a8a8a8; } }
body { font: 1rem/1.7 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--page); overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 2rem 0 0.3rem; }
h2 small, .key, .pairs { color: var(--dim); font-weight: normal; font-size: 0.85rem; }
p { margin: 0.3rem 0; white-space: pre-wrap; }
.key .f, .key .a { color: var(--text); }
.f { background: rgb(0 114 178 / var(--s)); border-radius: 0.2em; }
.a { background: rgb(213 94 0 / var(--s)); border-radius: 0.2em; text-decoration: underline; }
.u { color: var(--dim); font-style: italic; }
</style>
</head>
<body>
<h1>nlptx explain</h1>
<p class="key"><span class="f" style="--s:.6">for the label</span> <span class="a" style="--s:.6">against it</span> \
<span class="u">unknown or not read</span>. The stronger the colour, the more the probability of the label changes if \
the word is left out; the most important word of each text has the strongest colour.</p>
"""
PAGE_END = "</body>\n</html>\n"

# Opacity of the colour of the most important word in each text.
_STRONGEST = 0.75
# A word has no colour if its effect is below this fraction of the largest effect in the text.
_FAINTEST = 0.05


def text_as_html(explained: ExplainedText) -> str:
    """Return the explanation of a text as a section of the page."""
    if explained.label is None or explained.probability is None:
        label = "? <small>no known word</small>"
    else:
        label = f"{_isolated(explained.label)} <small>{explained.probability:.2%}</small>"
    where = f" <small>{_isolated(explained.where)}</small>" if explained.where else ""
    pairs = "".join(
        f"<br>“{_isolated(pair.words[1])}”: {pair.effect_with:+.2f} with “{_isolated(pair.words[0])}”,"
        f" {pair.effect_without:+.2f} without it"
        for pair in explained.pairs
    )
    lines = [f"<section>\n<h2>{label}{where}</h2>", f'<p dir="auto">{_coloured(explained)}</p>']
    if pairs:
        lines.append(f'<p class="pairs">pairs of words, effect in log-odds:{pairs}</p>')
    return "\n".join([*lines, "</section>\n"])


def _coloured(explained: ExplainedText) -> str:
    shown = explained.shown()
    largest = max((abs(word.effect) for word in shown if word.effect is not None), default=0) or 1
    coloured = {word.position for word in shown}
    return "".join(
        _escaped(part) if word is None or word.position not in coloured else _marked(part, word, largest)
        for part, word in _parts(explained)
    )


def _parts(explained: ExplainedText) -> Iterator[tuple[str, Word | None]]:
    """Split the text into parts: yield (part, word) for each token, and (part, None) for the text between tokens.

    A token that does not occur in the text, such as the mark that the tokenizer puts before a word in capitals, is
    yielded directly after the preceding token.
    """
    text = explained.text
    done = 0
    starts = token_starts(text, (word.word for word in explained.words))
    for word, start in zip(explained.words, starts, strict=True):
        if start is None:
            yield word.word, word
            continue
        yield text[done:start], None
        done = start + len(word.word)
        yield text[start:done], word
    yield text[done:], None


def _marked(part: str, word: Word, largest: float) -> str:
    if word.effect is None:
        return f'<span class="u">{_escaped(part)}</span>'
    strength = abs(word.effect) / largest
    kind, title = "f" if word.effect > 0 else "a", f"{word.effect:+.4g}"
    if word.read_as is not None:
        title += f", read as {_escaped(word.read_as)}"
    if strength < _FAINTEST:
        return f'<span title="{title}">{_escaped(part)}</span>'
    return f'<span class="{kind}" style="--s:{_STRONGEST * strength:.2f}" title="{title}">{_escaped(part)}</span>'


def _escaped(text: str) -> str:
    """Escape HTML in a text, and replace control characters other than line breaks and tabs."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(escape(neutralised(cell)) for cell in line.split("\t")) for line in lines)


def _isolated(text: str) -> str:
    """Escape a text, and mark it so that a right-to-left script does not change the order of the text around it."""
    return f"<bdi>{_escaped(text)}</bdi>"
