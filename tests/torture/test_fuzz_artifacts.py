"""Every damaged artifact is either rejected or still usable. ``make torture`` tests a hundred thousand artifacts."""

import json

import pytest
import specimens
from fuzzing import campaign
from harness import amounts
from mutations import Specimen, mutate_bytes, numbered
from tally import Tally

from nlptx.artifacts import container
from nlptx.errors import ArtifactError, DataError, OutputError

NAMES = ("cooccurrence", "embeddings", "kinds", *specimens.MODELS)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return specimens.stored_specimens(tmp_path_factory)


@pytest.fixture
def tally(request):
    return Tally(request, "fuzz artifacts")


def content(artifact):
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in artifact.arrays.items()}
    return json.dumps(artifact.header, sort_keys=True), arrays


def damaged_bytes(name, data, path, count, tally):
    """Flip, cut and overwrite bytes: if the file can still be read, its content must not have changed."""
    path.write_bytes(data)
    original = content(container.read(str(path)))

    def use(mutant):
        path.write_bytes(mutant)
        assert content(container.read(str(path))) == original

    return campaign(f"bytes/{name}", count, lambda rng: mutate_bytes(rng, data), use, ArtifactError, tally)


def forged_parts(name, data, path, count, tally):
    """Artifacts with wrong arrays or values but valid checksums are rejected, or can be used without an exception."""
    specimen = Specimen(data)

    def use(mutant):
        path.write_bytes(mutant)
        specimens.use(path)

    allowed = (ArtifactError, DataError, OutputError)
    return campaign(f"parts/{name}", count, lambda rng: specimen.mutant(rng)[0], use, allowed, tally)


@amounts(quick=40, full=2500)
@pytest.mark.parametrize("name", NAMES)
def test_damaged_bytes_are_detected_or_harmless(name, amount, made, tmp_path, tally):
    outcomes = damaged_bytes(name, made[name], tmp_path / "a.npz", amount, tally)
    assert outcomes.total() == amount
    assert outcomes["CorruptError"] > amount / 2


@amounts(quick=40, full=5000)
@pytest.mark.parametrize("name", NAMES)
def test_forged_parts_are_rejected_or_usable(name, amount, made, tmp_path, tally):
    outcomes = forged_parts(name, made[name], tmp_path / "a.npz", amount, tally)
    # If hardly any mutants are accepted, or hardly any rejected, the mutations are too aggressive or too mild.
    assert outcomes["accepted"] > amount / 20
    assert outcomes["CorruptError"] > amount / 3


def test_mutations_are_reproducible(made):
    specimen = Specimen(made["model"])
    for number in range(20):
        first, again = (specimen.mutant(numbered("x", number)) for _ in range(2))
        assert first == again
    assert len({specimen.mutant(numbered("x", number))[0] for number in range(20)}) > 15


def test_reader_without_checks_is_detected(made, tmp_path):
    def careless(mutant):
        path = tmp_path / "a.npz"
        path.write_bytes(mutant)
        container.read(str(path)).arrays["table"][0]["nothing"]

    with pytest.raises(AssertionError, match="mutation careless/"):
        campaign("careless", 50, Specimen(made["model"]).mutant, lambda mutant: careless(mutant[0]), ArtifactError)
