"""Random numbers: a stream for every use and place, none of which meets another."""

from itertools import product

import numpy as np

from nlptx.sampling.rng_streams import Stream, generator, seed_sequence


def test_no_two_uses_places_or_seeds_share_their_numbers():
    """Nor does one with the plain generator of a seed."""
    seeds, places = (0, 1, 2, 2**70), range(40)
    first = [generator(*which).integers(2**63) for which in product(seeds, Stream, places)]
    first += [np.random.default_rng(seed).integers(2**63) for seed in seeds]
    # Those of the shares of a batch, too.
    first += [np.random.default_rng(child).integers(2**63) for child in seed_sequence(1, Stream.DROPOUT, 3).spawn(9)]
    assert len(set(first)) == len(first)


def test_a_stream_depends_on_nothing_before_it():
    again = generator(5, Stream.ORDER, 7).permutation(20)
    generator(5, Stream.ORDER, 6).permutation(20)
    assert (generator(5, Stream.ORDER, 7).permutation(20) == again).all()


def test_the_numbers_of_the_uses_stay():
    """They decide the results of a seed."""
    assert [stream.name for stream in Stream] == [
        "WEIGHTS",
        "SPLIT",
        "FOLDS",
        "ORDER",
        "WORDS",
        "DROPOUT",
        "NEXT_WORD_WEIGHTS",
        "NEXT_WORD_ORDER",
        "NEXT_WORD_DROPOUT",
        "DISTILLATION_ORDER",
        "DISTILLATION_WORDS",
        "DISTILLATION_DROPOUT",
        "PASSAGES",
    ]
    assert [int(stream) for stream in Stream] == list(range(13))
