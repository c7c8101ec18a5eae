"""The pipeline of an article, trained once for all tests that look at it."""

import pytest
from made_once import made_once
from reviews import KINDS, make_reviews, pipeline


@pytest.fixture(scope="session")
def goldstraw(tmp_path_factory):
    """The outputs of the three stages with the preset goldstraw, by the names of the stages."""

    def make(folder):
        pipeline(folder, "goldstraw", *make_reviews(600), "--epochs", 8)

    folder = made_once(tmp_path_factory, "goldstraw", make)
    return {stage: folder / f"{stage}.npz" for stage in KINDS}
