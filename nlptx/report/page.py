"""Writes a page by filling in a template, and ensures that no text in the data can run code in the page.

A page contains texts, labels and names that may be malicious, so Jinja escapes all of them. Control characters and
other characters that HTML forbids are replaced with visible symbols. A Content-Security-Policy allows only the page's
own script and style sheet, by digest, and forbids all network requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlptx.errors import NlptxError, SettingsError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import STDOUT, check_writable
from nlptx.io.paths import FilePath, file_name
from nlptx.report import palette

if TYPE_CHECKING:
    from jinja2 import Environment

EXTENSIONS = (".html", ".htm")
_TEMPLATES = Path(__file__).parent / "templates"
# Characters to replace: Windows line ends, control characters except tab and line feed, lone surrogates, and the
# noncharacters of Unicode up to U+FFFF.
_CONTROLS = re.compile("\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Code point of the visible symbol for control character 0. The symbols for the other control characters follow it.
_PICTURES = 0x2400
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def check_report_path(path: FilePath) -> None:
    """Check that a page can be written to a file. Call this function before any long computation.

    Raises:
        SettingsError: the file name does not end in .html or .htm.
        NlptxError: Jinja2 is not installed.
        OutputError: the file cannot be written.
    """
    name = file_name(path)
    if name == STDOUT:
        raise SettingsError("`report`: standard output already shows the result; name a file that ends in .html")
    if not name.lower().endswith(EXTENSIONS):
        raise SettingsError(f"{name}: the name of a report must end in .html or .htm")
    _environment()
    check_writable(path)


def write_page(path: FilePath, template: str, **context: Any) -> None:
    """Fill in a template and write the page atomically. The same context always produces the same bytes.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`check_report_path`.
    """
    check_report_path(path)
    page = render(template, **context)
    with atomic_output(path) as file:
        file.write(page.encode("utf-8"))


def render(template: str, **context: Any) -> str:
    """Fill in a template with the values in the context, and return the HTML page."""
    environment = _environment()
    style = environment.get_template("style.css").render(palette=palette)
    script = (_TEMPLATES / "script.js").read_text(encoding="utf-8")
    return environment.get_template(template).render(
        **context, style=style, script=script, style_digest=_digest(style), script_digest=_digest(script)
    )


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise NlptxError("the report needs Jinja2", hint="pip install 'nlptx[report]'") from error
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["embedded"] = lambda value: Markup(as_script_data(value))
    environment.filters["trusted"] = Markup
    environment.filters["quantity"] = quantity
    return environment


def quantity(number: float, noun: str) -> str:
    """Return a whole number with a noun, which gets an "s" unless the number is 1.

    >>> quantity(1, "text"), quantity(2000, "text")
    ('1 text', '2,000 texts')
    """
    return f"{number:,.0f} {noun}" + "s" * (number != 1)


def visible(value: Any) -> Any:
    """If the value is a string, replace the characters that HTML forbids; return any other value unchanged."""
    if not isinstance(value, str) or not _CONTROLS.search(value):
        return value
    return type(value)(_CONTROLS.sub(_picture, value))


def _picture(match: re.Match[str]) -> str:
    if match[0] == "\r\n":
        return "\n"
    code = ord(match[0])
    return chr(_PICTURES + code) if code < 0x20 else "\u2421" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def as_script_data(value: Any) -> str:
    """Return a value as JSON for a script element, with only ASCII characters and without <, > and &."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda match: _IN_SCRIPT[match[0]], text)


def _digest(text: str) -> str:
    """Return the digest of a script or a style sheet, in the form that a Content-Security-Policy needs."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
