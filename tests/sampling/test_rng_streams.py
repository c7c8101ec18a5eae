"""Tests of random number streams: there is one per purpose and index, and all are independent."""

from itertools import product

import numpy as np

from nlptx.sampling.rng_streams import Stream, generator, seed_sequence


def test_streams_of_different_purpose_index_or_seed_share_no_numbers():
    """No stream shares numbers with ``default_rng(seed)`` either."""
    seeds, indices = (0, 1, 2, 2**70), range(40)
    first = [generator(*which).integers(2**63) for which in product(seeds, Stream, indices)]
    first += [np.random.default_rng(seed).integers(2**63) for seed in seeds]
    # The generators of microbatches, which are spawned from a stream, must share no numbers either.
    first += [np.random.default_rng(child).integers(2**63) for child in seed_sequence(1, Stream.DROPOUT, 3).spawn(9)]
    assert len(set(first)) == len(first)


def test_a_stream_does_not_depend_on_earlier_streams():
    again = generator(5, Stream.ORDER, 7).permutation(20)
    generator(5, Stream.ORDER, 6).permutation(20)
    assert (generator(5, Stream.ORDER, 7).permutation(20) == again).all()


def test_the_numbers_of_the_streams_never_change():
    """If the numbers of a stream changed, results for a given seed would change too."""
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
        "REGION_VECTORS",
        "REGIONS",
    ]
    assert [int(stream) for stream in Stream] == list(range(15))
