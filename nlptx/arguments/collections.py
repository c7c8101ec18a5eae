"""Checks of arguments that contain many values: texts, labels and lexicons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from numbers import Real
from typing import Any

from nlptx.arguments.values import check_type, dimensions, is_finite, is_missing, type_name, with_type
from nlptx.errors import DataError, InputTypeError

# Advice for labels in a form that nlptx.fit does not accept.
SEVERAL_LABELS_HINT = (
    "For several labels per text, pass a list of str for each text; TextClassifier also accepts a matrix of 0 and 1."
)
# Advice for texts without a label.
UNLABELLED_HINT = "Leave out texts without a label; in training, they can be passed as `unlabelled`."


def iterate_texts(texts: Iterable[str], name: str = "texts") -> Iterator[str]:
    """Check the type of a collection of texts, and return an iterator that checks each text.

    Args:
        texts: a list, tuple, array, Series or any other iterable of str.
        name: name of the argument, for messages.

    Raises:
        InputTypeError: ``texts`` is a single string, a table, or not iterable. The iterator raises InputTypeError for
            an element that is not a str.

    >>> list(iterate_texts(["good", None]))
    Traceback (most recent call last):
    nlptx.errors.InputTypeError: `texts[1]` is None; expected a str
      Leave out missing texts, or replace them with ''.
    """
    return _each_text(check_iterable(texts, name, "texts"), name)


def list_texts(texts: Iterable[str], name: str = "texts") -> list[str]:
    """Return the texts as a list, after the checks of :func:`iterate_texts`."""
    return list(iterate_texts(texts, name))


def _each_text(texts: Iterable[Any], name: str) -> Iterator[str]:
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(
                f"`{name}[{position}]` is {with_type(text)}; expected a str",
                hint="Leave out missing texts, or replace them with ''." if is_missing(text) else "",
            )
        yield text


def check_iterable(values: Any, name: str, content: str) -> Iterable[Any]:
    """Check that ``values`` is a one-dimensional collection, and return it. A pyarrow array is returned as a list.

    Args:
        values: the argument to check.
        name: name of the argument, for messages.
        content: plural noun for the elements, for messages.

    Raises:
        InputTypeError: ``values`` is a single string, a set, a mapping, not one-dimensional or not iterable.
    """
    expected = f"expected a list or other iterable of {content}"
    if isinstance(values, str | bytes | bytearray):
        raise InputTypeError(f"`{name}` is {with_type(values)}; {expected}", hint="Put a single value into a list.")
    if isinstance(values, set | frozenset):
        raise InputTypeError(
            f"`{name}` is {with_type(values)}, whose order is arbitrary; {expected}",
            hint="Pass a list, in a fixed order.",
        )
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise InputTypeError(f"`{name}` is {with_type(values)}; {expected}")
    count = dimensions(values)
    if count > 1 or (count == 0 and isinstance(getattr(values, "ndim", None), int)):
        hint = f"Pass one column. {SEVERAL_LABELS_HINT if 'labels' in content else ''}".strip()
        raise InputTypeError(
            f"`{name}` is a {type_name(values)} with {count} dimensions; {expected}",
            hint=hint if count == 2 else "",
        )
    # A pyarrow array is converted to a list, because its elements are not Python objects.
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def check_one_label_each(texts: Sized, labels: Sized, names: tuple[str, str] = ("texts", "labels")) -> None:
    """Raise DataError unless there is one label per text. ``names`` are the argument names for the message."""
    if len(texts) != len(labels):
        raise DataError(
            f"`{names[0]}` has {len(texts):,} elements, `{names[1]}` has {len(labels):,}; expected one label per text"
        )


def check_lexicon(lexicon: Any) -> dict[str, float]:
    """Return a lexicon as a dictionary. Raise InputTypeError unless the lexicon maps str to finite numbers."""
    check_type(lexicon, Mapping, "lexicon")
    for word, value in lexicon.items():
        if not isinstance(word, str):
            raise InputTypeError(f"`lexicon` has the key {with_type(word)}; expected a str")
        if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
            raise InputTypeError(f"`lexicon[{word!r}]` is {with_type(value)}; expected a finite number")
    return {word: float(value) for word, value in lexicon.items()}
