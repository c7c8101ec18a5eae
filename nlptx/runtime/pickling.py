"""A base class whose instances are pickled without their cached properties."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class PickledWithoutCache:
    """Base class of objects that are pickled without the values of their cached properties.

    The pickled bytes, and digests of them, therefore do not depend on how an object was used before.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, without cached values."""
        of_class = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(of_class, name, None), cached_property)
        }
