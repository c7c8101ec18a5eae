"""Functions that write inputs and read them with ``Corpus``; shared by the corpus tests."""

import bz2
import gzip
import lzma

import pytest
from hypothesis import HealthCheck, settings

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError

BOM = b"\xef\xbb\xbf"
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}

# Suppressing the check of function-scoped fixtures is safe, because the examples share only one file, and each example
# rewrites it.
quick = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def read(*inputs, **options):
    return list(Corpus([str(name) for name in inputs], ReadOptions(**options)))


def texts(*inputs, **options):
    return [document.text for document in read(*inputs, **options)]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path, *parts, error=DataError, **options):
    """Check that reading ``path`` raises ``error`` with a message that contains all ``parts``."""
    with pytest.raises(error) as caught:
        read(path, **options)
    for part in parts:
        assert part in str(caught.value)
