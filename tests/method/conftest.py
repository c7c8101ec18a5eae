"""The pipeline of the first article, trained once for all tests that use it."""

import pytest
from made_once import made_once
from reviews import KINDS, make_reviews, pipeline


@pytest.fixture(scope="session")
def goldstraw(tmp_path_factory):
    """Return the artifacts of the preset goldstraw, as a dict of stage -> path."""

    def make(folder):
        pipeline(folder, "goldstraw", *make_reviews(450), "--epochs", 4)

    folder = made_once(tmp_path_factory, "goldstraw", make)
    return {stage: folder / f"{stage}.npz" for stage in KINDS}
