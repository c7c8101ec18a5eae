"""A fixture that runs the pipeline of Goldstraw's article once for all tests that use it."""

import pytest
from made_once import made_once
from reviews import KINDS, make_reviews, pipeline


@pytest.fixture(scope="session")
def goldstraw(tmp_path_factory):
    """Return the paths of the artifacts made with the preset goldstraw, as a dict from the stage to the path."""

    def make(folder):
        pipeline(folder, "goldstraw", *make_reviews(450), "--epochs", 4)

    folder = made_once(tmp_path_factory, "goldstraw", make)
    return {stage: folder / f"{stage}.npz" for stage in KINDS}
