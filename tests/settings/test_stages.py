"""Training settings that leave nothing to train are rejected."""

import pytest

from nlptx.errors import SettingsError
from nlptx.settings import TrainSettings


@pytest.mark.parametrize(
    ("values", "message"),
    [({"ngrams": 0}, "there is nothing to train"), ({"pretrain": 1}, "`pretrain` trains the network")],
)
def test_there_must_be_something_to_train(values, message):
    TrainSettings(**values)
    with pytest.raises(SettingsError, match=message):
        TrainSettings(epochs=0, **values)
