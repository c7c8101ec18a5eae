"""Worker processes are forked only if no other thread runs Python, because a fork copies the locks of all threads."""

import sys

import pytest
from command import run_forking

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")

# Trains twice: first while another thread holds a lock for which forked processes would wait, then without that thread.
PROGRAM = """
import os, threading
import nlptx
from nlptx.runtime.workers import Workers

forks = []
os.register_at_fork(before=lambda: forks.append(1), after_in_child=lambda: lock.acquire())
lock = threading.Lock()
held, ended = threading.Event(), threading.Event()

def other():
    with lock:
        held.set()
        ended.wait()

texts = ["a good film", "a bad film", "so very good", "so very bad"] * 40
settings = nlptx.TrainSettings(epochs=2, width=8, heads=2, batch=16, lsa_components=2)

def train():
    forks.clear()
    model = nlptx.fit(texts, [1, 0] * 80, settings=settings, pca=nlptx.PcaSettings(components=4), jobs=2)
    return model.flat.tobytes() + model.table.tobytes(), len(forks) > 0

thread = threading.Thread(target=other, daemon=True)
thread.start()
held.wait()
of_threads, forked = train()
assert not forked
assert not Workers.of(2, prefer_processes=True).processes
ended.set()
thread.join()
of_processes, forked = train()
assert forked
assert of_threads == of_processes
assert Workers.of(2, prefer_processes=True).processes
assert not Workers.of(2).processes  # starting processes for short work is not worthwhile
given = Workers(2)
assert Workers.of(given, prefer_processes=True) is given
print("same")
"""


def test_training_forks_only_without_other_threads_and_gives_the_same_bytes():
    done = run_forking(PROGRAM)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "same\n")
