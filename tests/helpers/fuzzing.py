"""Runs many numbered mutations through a reader, and holds it to what SECURITY.md promises."""

import resource
import time
from collections import Counter

from mutations import numbered

SECONDS, MEGABYTES = 2, 200


def largest():
    """The largest resident size of this process so far, in MB (on Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def campaign(name, count, mutate, use, allowed, tally=None, seconds=SECONDS):
    """Make ``count`` mutations; each must be used in peace or refused by an error of ``allowed``.

    Args:
        name: of the specimen; with the number it makes the mutation again.
        mutate: takes a generator; returns what ``use`` takes.
        use: does with a mutant all that can be done with it.
        allowed: classes of errors.
        tally: counts them.
        seconds: most that one may take, of this process alone.

    Returns:
        how often what came out.
    """
    outcomes = Counter()
    before = largest()
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
    assert largest() - before < MEGABYTES, f"some mutation of {name} takes too much memory"
    return outcomes
