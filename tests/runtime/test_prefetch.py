"""Prefetching is bounded, delivers every text as soon as it arrives, and can be ended by the source or the consumer."""

import threading
import time

import pytest

from nlptx.runtime.prefetch import prefetch
from nlptx.runtime.workers import PAUSE


def wait_for_reader(read):
    """Wait until the reader stops making progress."""
    seen = -1
    while seen != len(read):
        seen = len(read)
        time.sleep(0.05)


def groups_of(pairs, size):
    return (group for group in prefetch(pairs, size) if group is not PAUSE)


def test_prefetching_waits_for_the_consumer():
    read = []

    def source():
        for number in range(10_000):
            read.append(number)
            yield number, str(number)

    groups = groups_of(source(), 10)
    numbers, texts = next(groups)
    wait_for_reader(read)
    assert len(read) <= len(texts) + 41
    for more_numbers, more_texts in groups:
        assert 1 <= len(more_texts) <= 10
        numbers += more_numbers
        texts += more_texts
    assert numbers == list(range(10_000))
    assert texts == [str(number) for number in range(10_000)]


def test_prefetching_is_also_limited_by_characters():
    read = []

    def source():
        for number in range(50):
            read.append(number)
            yield None, "x" * 1_500_000

    groups = groups_of(source(), 100)
    assert len(next(groups)[1]) == 1
    wait_for_reader(read)
    assert len(read) <= 5
    assert sum(len(texts) for _, texts in groups) == 49


def test_a_pause_is_yielded_while_the_source_waits():
    resume = threading.Event()

    def source():
        yield 1, "a"
        resume.wait(30)
        yield 2, "b"

    groups = prefetch(source(), 10)
    before = [next(groups)]
    while before[-1] is PAUSE:
        before.append(next(groups))
    assert before[-1] == ([1], ["a"])
    assert next(groups) is PAUSE
    resume.set()
    assert [group for group in groups if group is not PAUSE] == [([2], ["b"])]


def test_an_error_of_the_source_is_raised_after_the_texts_read_before_it():
    def source():
        yield 1, "a"
        yield 2, "b"
        raise OSError("gone")

    seen = []
    with pytest.raises(OSError, match="gone"):  # noqa: PT012  # the groups before the error are checked below
        for group in prefetch(source(), 10):
            seen.append(group)
    assert seen[-1] is PAUSE
    assert [text for group in seen if group is not PAUSE for text in group[1]] == ["a", "b"]


@pytest.mark.parametrize("groups_consumed", [0, 1, 2])
@pytest.mark.parametrize("text", ["x", "x" * 5_000_000])
def test_the_reader_thread_ends_with_the_consumer(groups_consumed, text):
    groups = prefetch(iter(lambda: (None, text), None), 4)  # an infinite source
    for _ in range(groups_consumed):
        next(groups)
    groups.close()
    for thread in threading.enumerate():
        if thread.name == "nlptx-reader":
            thread.join(30)
            assert not thread.is_alive()


def test_closing_does_not_wait_for_the_source():
    resume = threading.Event()

    def source():
        yield 1, "a"
        resume.wait(30)

    groups = prefetch(source(), 4)
    while next(groups) is PAUSE:
        pass
    groups.close()
    assert not resume.is_set()
    resume.set()
