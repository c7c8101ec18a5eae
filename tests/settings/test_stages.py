"""Training settings that leave nothing to train, or that contradict each other, are rejected."""

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


def test_narrow_heads_that_do_not_divide_the_width_are_rejected_before_any_work():
    with pytest.raises(SettingsError, match="width 64 cannot be divided among 3 narrow heads"):
        TrainSettings(heads=3)
    for values in ({"head_width": "wide"}, {"attention": "plain"}, {"blocks": 0}, {"epochs": 0}, {"width": 0}):
        TrainSettings(heads=3, **values)
