"""The parameters of the estimator. As in scikit-learn, parameters are plain attributes, which ``fit`` validates."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nlptx.arguments.values import check_type, with_type
from nlptx.errors import InputTypeError
from nlptx.settings import SEED, CountSettings, PcaSettings, Settings, TrainSettings

if TYPE_CHECKING:
    from nlptx.classifier.model import Model
    from nlptx.embeddings.embeddings import Embeddings

# Parameters that hold the settings of a stage. As parameters, the fields of these settings have names such as
# `pca__components`.
_STAGES: dict[str, type[Settings]] = {"cooccur": CountSettings, "pca": PcaSettings}
# Parameters and their defaults.
_DEFAULTS: dict[str, Any] = {
    **{item.name: item.default for item in fields(TrainSettings)},
    **dict.fromkeys(("cooccur", "pca", "embeddings", "start", "jobs")),
    "seed": SEED,
    "verbose": False,
}
# Names of the stage settings, such as `pca__components`.
_NESTED = [f"{stage}__{item.name}" for stage, cls in _STAGES.items() for item in fields(cls)]
# Names of parameters in scikit-learn -> names of the same parameters here.
_OTHER_NAMES = {"n_jobs": "jobs", "random_state": "seed"}
# Maximum length of the list of non-default parameters in a repr, in characters.
_MAX_REPR_LENGTH = 90


class Parameters:
    """Base class that stores each parameter in an attribute of the same name, without checking or changing it."""

    cooccur: CountSettings | None
    pca: PcaSettings | None
    embeddings: Embeddings | None
    start: Model | None
    seed: int
    jobs: int | None
    verbose: bool

    def __init__(self, *values: Any, **parameters: Any) -> None:
        if values:
            raise InputTypeError(
                f"{type(self).__name__} takes only keyword arguments, but {with_type(values[0])} has no name",
                hint="Write the name of the parameter, as in `epochs=3`.",
            )
        self._check_names(parameters, _DEFAULTS)
        vars(self).update(_DEFAULTS | parameters)

    # scikit-learn, help() and notebooks read the names and defaults of the parameters from this signature.
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
        + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in _DEFAULTS.items()]
    )

    def __repr__(self) -> str:
        changed = (
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if type(getattr(self, name)) is not type(default) or getattr(self, name) != default
        )
        return f"{type(self).__name__}({shorten(', '.join(changed), _MAX_REPR_LENGTH, placeholder=' ...')})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as name -> value.

        Args:
            deep: whether to include the fields of ``cooccur`` and ``pca``, under names such as ``pca__components``. If
                ``cooccur`` or ``pca`` is None, it has no fields to include.
        """
        parameters = {name: getattr(self, name) for name in self._defaults()}
        for stage in _STAGES if deep else ():
            if isinstance(parameters.get(stage), Settings):
                parameters |= {f"{stage}__{name}": value for name, value in parameters[stage].to_dict().items()}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters and return the estimator. A model that is already fitted does not change.

        Fields of ``cooccur`` and ``pca`` have names such as ``pca__components``.

        Raises:
            InputTypeError: a parameter does not exist (this error is also a ValueError).
            SettingsError: a field of ``cooccur`` or ``pca`` has an invalid value.
        """
        stages: dict[str, dict[str, Any]] = {stage: {} for stage in _STAGES}
        changes = {}
        self._check_names(parameters, [*self._defaults(), *_NESTED])
        for name, value in parameters.items():
            stage, _, field = name.partition("__")
            if name in _NESTED:
                stages[stage][field] = to_plain(value)
            else:
                changes[name] = value
        for stage, values in stages.items():
            if values:
                before = changes.get(stage, getattr(self, stage))
                if before is not None:
                    check_type(before, _STAGES[stage], stage)
                changes[stage] = replace(_STAGES[stage]() if before is None else before, **values)
        vars(self).update(changes)
        return self

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """Return the parameters and their defaults.

        If a subclass defines ``__init__``, the named parameters of this method are included. The parameters of the base
        classes are included only if ``__init__`` also accepts other keywords (``**parameters``).
        """
        defaults: dict[str, Any] = {}
        for kind in cls.__mro__:
            if init := vars(kind).get("__init__"):
                _, *parameters = inspect.signature(init).parameters.values()
                named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
                defaults = {one.name: one.default for one in named} | defaults
                if not any(one.kind is one.VAR_KEYWORD for one in parameters):
                    break
        return defaults

    def _train_settings(self) -> TrainSettings:
        """Return the training settings. Raise SettingsError if a setting has an invalid value."""
        return TrainSettings(**{item.name: to_plain(getattr(self, item.name)) for item in fields(TrainSettings)})

    def _check_names(self, names: Iterable[str], known: Collection[str]) -> None:
        for name in names:
            if name not in known:
                near = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else get_close_matches(name, known, 1)
                hint = f"Did you mean `{near[0]}`?" if near else "get_params() lists the parameters."
                if name in _NESTED:
                    stage, _, field = name.partition("__")
                    hint = f"Pass `{stage}={_STAGES[stage].__name__}({field}=...)`, or call set_params({name}=...)."
                raise InputTypeError(f"{type(self).__name__} has no parameter `{name}`", hint=hint)


def to_plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python object, and any other value unchanged.

    >>> to_plain(np.int64(3)), to_plain("words")
    (3, 'words')
    """
    return value.item() if isinstance(value, np.generic) else value
