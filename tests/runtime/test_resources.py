"""The number of workers is limited, because workers beyond the number of cores only need memory."""

import pytest

from nlptx.runtime import resources
from nlptx.runtime.workers import Workers


@pytest.mark.parametrize(
    ("cores", "jobs", "expected"),
    [(2, None, 2), (2, 1, 1), (2, 3, 3), (2, 32, 32), (2, 999, 32), (96, None, 96), (96, 64, 64), (96, 999, 96)],
)
def test_the_number_of_workers(cores, jobs, expected, monkeypatch):
    monkeypatch.setattr(resources, "available_cores", lambda: cores)
    assert resources.useful_jobs(jobs) == expected
    assert Workers(jobs).jobs == expected
