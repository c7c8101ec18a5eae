"""The model card that ``train --card`` stores in a model."""

from __future__ import annotations

import os
from typing import Any

from nlptx.errors import DataError, SettingsError
from nlptx.io import strict_json

_MAX_BYTES = 1 << 16


def read_card(path: str) -> dict[str, Any]:
    """Return the contents of a model card, which is a JSON file of at most 64 KiB.

    Raises:
        DataError: the file cannot be read, is too large, or does not consist of exactly one JSON object.
        SettingsError: the file does not exist.
    """
    if not os.path.exists(path):
        raise SettingsError(f"{path}: no such file")
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        card = strict_json.loads(data.decode()) if len(data) <= _MAX_BYTES else None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=path) from error
    except ValueError as error:
        raise DataError(f"cannot be read as JSON: {error}", where=path) from error
    if not isinstance(card, dict):
        raise DataError(f"expected one JSON object of at most {_MAX_BYTES >> 10} KiB", where=path)
    return card
