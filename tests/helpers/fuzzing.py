"""Runs a reader on many damaged files, and checks that it behaves as described in SECURITY.md."""

import resource
import time
from collections import Counter

from mutations import numbered

SECONDS, MEGABYTES = 2, 200


def peak_memory():
    """Return the peak resident size of this process in MB (on Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def campaign(name, count, mutate, use, allowed, tally=None, seconds=SECONDS):
    """Make and use ``count`` mutants; each use must succeed or raise one of the errors in ``allowed``.

    Args:
        name: name of the specimen; this name and a number from 0 determine each mutation.
        count: number of mutants.
        mutate: function from a random generator to a mutant.
        use: function that performs every possible operation on a mutant.
        allowed: tuple of error classes.
        tally: object that counts the mutants, or None.
        seconds: maximum CPU time per mutant.

    Returns:
        Dict that maps each outcome ("accepted" or the name of the error class) to the number of mutants.
    """
    outcomes = Counter()
    before = peak_memory()
    for number in range(count):
        mutant = mutate(numbered(name, number))
        if tally is not None:
            tally.injected()
        began = time.process_time()
        try:
            use(mutant)
            outcomes["accepted"] += 1
        except allowed as error:
            outcomes[type(error).__name__] += 1
        except Exception as error:
            raise AssertionError(f"mutation {name}/{number}: {error!r}") from error
        assert time.process_time() - began < seconds, f"mutation {name}/{number} takes too long"
        if tally is not None:
            tally.survived()
    assert peak_memory() - before < MEGABYTES, f"some mutation of {name} takes too much memory"
    return outcomes
