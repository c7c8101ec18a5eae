"""Settings check their values, show what was changed, and can be stored and read."""

import json
from dataclasses import dataclass, fields

import numpy as np
import pytest

from nlptx.errors import CorruptError, SettingsError
from nlptx.settings import GROUPS, CountSettings, PcaSettings, Settings, TrainSettings, stored_value
from nlptx.settings.declaration import MAIN, setting

STAGES = [CountSettings, PcaSettings, TrainSettings]


@dataclass(frozen=True, repr=False)
class Example(Settings):
    """Settings of every type: integer, number, choice and flag."""

    count: int = setting(3, "A number.", MAIN, minimum=1, maximum=9)
    rate: float = setting(0.5, "A rate.", MAIN, minimum=0)
    kind: str = setting("a", "A kind.", MAIN, choices=("a", "b"), legacy_value="b")
    flag: bool = setting(False, "A flag.", MAIN)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 0}, "`count` is 0; expected from 1 to 9"),
        ({"count": 10}, "`count` is 10; expected from 1 to 9"),
        ({"count": 2.0}, "`count` is 2.0; expected int"),
        ({"count": True}, "`count` is True; expected int"),
        ({"rate": -0.1}, "`rate` is -0.1; expected at least 0"),
        ({"rate": float("nan")}, "`rate` is nan; expected a finite number"),
        ({"rate": float("inf")}, "`rate` is inf; expected a finite number"),
        ({"rate": 10**400}, "`rate` is 100000000000000000...0000000000000000000; expected a finite number"),
        ({"rate": True}, "`rate` is True; expected float"),
        ({"kind": "c"}, "`kind` is 'c'; expected one of a, b"),
        ({"kind": None}, "`kind` is None; expected one of a, b"),
        ({"flag": 1}, "`flag` is 1; expected bool"),
    ],
)
def test_invalid_values_are_rejected(values, message):
    with pytest.raises(SettingsError) as caught:
        Example(**values)
    assert caught.value.message == message
    with pytest.raises(CorruptError, match="a stored setting is invalid"):
        Example.from_dict(values)


@pytest.mark.parametrize("values", [{"count": 1}, {"count": 9}, {"rate": 0}, {"rate": 1e300}, {"kind": "b"}])
def test_the_bounds_are_included_and_an_int_is_a_float(values):
    assert Example(**values).to_dict() == {**Example().to_dict(), **values}


@pytest.mark.parametrize(
    ("stage", "name", "value"),
    [
        (CountSettings, "window", 0),
        (CountSettings, "window", 1001),
        (CountSettings, "min_count", 0),
        (CountSettings, "max_words", 0),
        (CountSettings, "weighting", "square"),
        (PcaSettings, "components", 0),
        (PcaSettings, "tolerance", 0.0),
        (PcaSettings, "smoothing", 1.5),
        (PcaSettings, "eigenvalue_weight", -0.1),
        (PcaSettings, "equalize", 1.5),
        (PcaSettings, "negative_weight", 0.0),
        (PcaSettings, "transform", "sqrt"),
        (TrainSettings, "heads", 0),
        (TrainSettings, "dropout", 1.0),
        (TrainSettings, "ngrams", 4),
        (TrainSettings, "distill", -2),
    ],
)
def test_the_ranges_of_the_stages(stage, name, value):
    with pytest.raises(SettingsError, match=rf"`{name}` is .*; expected"):
        stage(**{name: value})


@pytest.mark.parametrize("stage", STAGES)
def test_every_setting_has_a_help_text_and_a_section(stage):
    for item in fields(stage):
        assert item.metadata["help"].endswith("."), item.name
        assert item.metadata["group"] in GROUPS, item.name


def test_representations_of_settings_show_only_changed_values():
    assert repr(CountSettings(window=2, lowercase=False)) == "CountSettings(window=2, lowercase=False)"
    assert repr(TrainSettings()) == "TrainSettings()"
    settings = TrainSettings(epochs=1, ngrams=0, width=8)
    assert eval(repr(settings), {"TrainSettings": TrainSettings}) == settings


@pytest.mark.parametrize("stage", STAGES)
def test_stored_settings_are_read(stage):
    assert stage.from_dict(stage().to_dict()) == stage()
    with pytest.raises(CorruptError, match="stores the setting 'colour', which this version"):
        stage.from_dict({**stage().to_dict(), "colour": 1})


def test_a_setting_that_is_missing_in_an_artifact_has_its_legacy_value():
    count, _, kind, _ = fields(Example)
    assert stored_value(count, {}) == 3
    assert stored_value(kind, {}) == "b"
    assert stored_value(kind, {"kind": "a"}) == "a"


def test_numbers_of_numpy_and_ints_are_converted():
    settings = Example(count=np.int64(4), rate=1)
    assert (type(settings.count), type(settings.rate)) == (int, float)
    assert Example(rate=np.float32(0.5)) == Example(rate=0.5)
    assert json.dumps(settings.to_dict()) == json.dumps(Example(count=4, rate=1.0).to_dict())
