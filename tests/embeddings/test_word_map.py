"""Tests of groups of similar words, and of their positions on a map."""

from dataclasses import replace

import numpy as np
import pytest
from clustered_words import clustered_embeddings, make_embeddings

from nlptx.embeddings.word_map import plane_positions, word_groups


@pytest.fixture
def clusters():
    return clustered_embeddings()


def test_groups_consist_of_similar_words(clusters):
    groups = word_groups(clusters, groups=5, size=8)
    assert [len(group) for group in groups] == [8] * 5
    assert [len({index % 5 for index in group}) for group in groups] == [1] * 5
    assert len({group[0] % 5 for group in groups}) == 5


def test_every_word_is_in_one_group_if_there_are_enough_groups(clusters):
    groups = word_groups(clusters, groups=100, size=7)
    indices = [index for group in groups for index in group]
    assert sorted(indices) == list(range(6, 60))  # the most frequent tenth of the words is omitted


def test_short_words_and_words_without_letters_are_omitted():
    words = ["the", "of", "10", "!", "film", "n't", "story", "a", "plot", "scene"]
    groups = word_groups(make_embeddings(np.random.default_rng(1).normal(size=(10, 4)), words))
    assert {words[index] for group in groups for index in group} == {"film", "story", "plot", "scene"}


def test_english_function_words_are_omitted():
    words = ["film", "because", "plot", "their", "scene", "somebody"]
    groups = word_groups(make_embeddings(np.random.default_rng(1).normal(size=(6, 4)), words))
    assert {words[index] for group in groups for index in group} == {"film", "plot", "scene"}


def test_groups_of_a_small_corpus_use_only_the_leading_components(clusters):
    rng = np.random.default_rng(2)
    noisy = np.hstack([clusters.vectors, rng.normal(0, 30, (60, 40)).astype(np.float32)])
    made = replace(clusters, vectors=noisy, eigenvalues=np.arange(48, 0, -1.0))
    groups = word_groups(made, groups=5, size=8)
    assert [len({index % 5 for index in group}) for group in groups] == [1] * 5


def test_words_without_letters_are_used_if_there_are_no_others():
    groups = word_groups(make_embeddings(np.eye(3), ["1", "2", "3"]))
    assert sorted(index for group in groups for index in group) == [0, 1, 2]


def test_similar_words_are_close_on_the_map(clusters):
    positions = plane_positions(clusters, list(range(60)))
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    same = np.arange(60)[:, None] % 5 == np.arange(60) % 5
    assert distances[same].max() < distances[~same].min()


def test_distances_that_are_possible_in_a_plane_are_preserved():
    # After subtracting their mean, the three vectors are 120 degrees apart, so 1 - cosine is 1.5 for each pair.
    positions = plane_positions(make_embeddings([[1, 0, 5], [-0.5, 0.75**0.5, 5], [-0.5, -(0.75**0.5), 5]]), [0, 1, 2])
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    np.testing.assert_allclose(distances, 1.5 * (1 - np.eye(3)), atol=1e-6)
