"""Thousands of damaged artifacts: refused, or as good as whole. ``make torture`` runs many more of them."""

import json

import pytest
import specimens
from fuzzing import campaign
from mutations import Specimen, mutate_bytes, numbered

from nlptx import artifacts
from nlptx.errors import ArtifactError, DataError, OutputError

QUICK = 150
NAMES = ("cooccurrence", "embeddings", "kinds", *specimens.MODELS)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return specimens.make(tmp_path_factory.mktemp("specimens"))


def content(artifact):
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in artifact.arrays.items()}
    return json.dumps(artifact.header, sort_keys=True), arrays


def damaged_bytes(name, data, path, count, start=0):
    """Flip, cut and overwrite bytes: what is read all the same must be equal to what was written."""
    path.write_bytes(data)
    whole = content(artifacts.read(str(path)))

    def use(mutant):
        path.write_bytes(mutant)
        assert content(artifacts.read(str(path))) == whole

    return campaign(f"bytes/{name}", count, lambda rng: mutate_bytes(rng, data), use, ArtifactError, start)


def forged_parts(name, data, path, count, start=0):
    """Wrong arrays and values behind right checksums: refused, or used from end to end without an exception."""
    specimen = Specimen(data)

    def use(mutant):
        path.write_bytes(mutant)
        specimens.use(path)

    allowed = (ArtifactError, DataError, OutputError)
    return campaign(f"parts/{name}", count, lambda rng: specimen.mutant(rng)[0], use, allowed, start)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_bytes_are_noticed_or_mean_nothing(name, made, tmp_path):
    outcomes = damaged_bytes(name, made[name], tmp_path / "a.npz", QUICK)
    assert outcomes.total() == QUICK
    assert outcomes["CorruptError"] > QUICK / 2


@pytest.mark.parametrize("name", NAMES)
def test_forged_parts_are_refused_or_usable(name, made, tmp_path):
    outcomes = forged_parts(name, made[name], tmp_path / "a.npz", QUICK)
    # Both must happen, or the mutations are too wild or too tame to tell anything.
    assert outcomes["accepted"] > 5
    assert outcomes["CorruptError"] > QUICK / 3


def test_mutations_are_the_same_every_time(made):
    specimen = Specimen(made["model"])
    for number in range(20):
        first, again = (specimen.mutant(numbered("x", number)) for _ in range(2))
        assert first == again
    assert len({specimen.mutant(numbered("x", number))[0] for number in range(20)}) > 15


def test_a_reader_that_lets_anything_through_is_found_out(made, tmp_path):
    def careless(mutant):
        path = tmp_path / "a.npz"
        path.write_bytes(mutant)
        artifacts.read(str(path)).arrays["table"][0]["nothing"]

    with pytest.raises(AssertionError, match="mutation careless/"):
        campaign("careless", 50, Specimen(made["model"]).mutant, lambda mutant: careless(mutant[0]), ArtifactError)
