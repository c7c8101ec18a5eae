"""Checks of single arguments name the argument, its value and what was expected."""

import numpy as np
import pandas as pd
import pytest

from nlptx.arguments import values
from nlptx.errors import InputTypeError, NlptxError, SettingsError
from nlptx.settings import PcaSettings, TrainSettings


class Estimator:
    model_ = TrainSettings()


@pytest.mark.parametrize(
    ("check", "value", "error", "message"),
    [
        (values.check_natural, -1, SettingsError, "`name` is -1; expected at least 0"),
        (values.check_natural, 1.0, InputTypeError, "`name` is 1.0 (float); expected an int"),
        (values.check_int, True, InputTypeError, "`name` is True (bool); expected an int"),
        (values.check_int, "1", InputTypeError, "`name` is '1' (str); expected an int"),
        (values.check_real, False, InputTypeError, "`name` is False (bool); expected a number"),
        (values.check_real, None, InputTypeError, "`name` is None; expected a number"),
        (values.check_text, b"a", InputTypeError, "`name` is b'a' (bytes); expected a str"),
        (values.check_text, np.zeros((2, 2)), InputTypeError, "`name` is a numpy.ndarray; expected a str"),
    ],
)
def test_wrong_values_are_refused(check, value, error, message):
    with pytest.raises(error) as caught:
        check(value, "name")
    assert str(caught.value).splitlines()[0] == message


def test_numbers_of_numpy_are_accepted():
    values.check_natural(np.int64(0), "name")
    values.check_int(np.int8(-1), "name")
    values.check_real(np.float32(0.5), "name")


def test_seeds_and_settings():
    values.check_seed(0)
    values.check_settings(None, PcaSettings)
    values.check_settings(PcaSettings(), PcaSettings)
    with pytest.raises(SettingsError, match="`seed` is -1"):
        values.check_seed(-1)
    with pytest.raises(InputTypeError, match=r"`settings` is TrainSettings.*expected an instance of PcaSettings"):
        values.check_settings(TrainSettings(), PcaSettings)


def test_an_estimator_instead_of_its_model_gets_a_hint():
    with pytest.raises(InputTypeError) as caught:
        values.check_type(Estimator(), TrainSettings, "model")
    assert caught.value.hint == "Pass its attribute model_."
    with pytest.raises(NlptxError) as caught:
        values.check_type(3, TrainSettings, "model")
    assert caught.value.hint == ""


def test_classes_have_no_dimensions():
    assert [values.dimensions(value) for value in (pd.Series, np.ndarray, [1], np.zeros((2, 3)))] == [0, 0, 0, 2]


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.ma.masked])
def test_missing_values(value):
    assert values.is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, float("inf"), [], np.array([np.nan, 1])])
def test_values_that_are_not_missing(value):
    assert not values.is_missing(value)


@pytest.mark.parametrize(("number", "finite"), [(1, True), (float("inf"), False), (np.nan, False), (10**400, False)])
def test_is_finite(number, finite):
    assert values.is_finite(number) == finite
