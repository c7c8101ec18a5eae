"""Metadata routing of scikit-learn: which arguments a meta-estimator, such as GridSearchCV, passes to its estimator."""

from __future__ import annotations

from typing import Any, Self

from nlptx.errors import InputTypeError

# Arguments of each method that can be requested: all except texts and labels.
_ARGUMENTS = {"fit": ("sample_weight", "unlabelled", "valid"), "score": ("sample_weight",)}


class MetadataRequests:
    """Base class that stores which arguments the methods of the estimator request.

    The methods of this class import scikit-learn. scikit-learn uses the requests only after
    ``sklearn.set_config(enable_metadata_routing=True)``. If an argument that is neither requested nor refused is passed
    to a meta-estimator, scikit-learn raises an error.
    """

    def get_metadata_routing(self) -> Any:
        """Return a copy of the requests, as a ``MetadataRequest`` of scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        requests = MetadataRequest(owner=type(self).__name__)
        for method, names in _ARGUMENTS.items():
            for name in names:
                getattr(requests, method).add_request(param=name, alias=None)
        return requests

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Request or refuse the arguments ``sample_weight``, ``unlabelled`` and ``valid`` of ``fit``.

        Args:
            **requests: for each argument, True to request the argument, False to ignore it, None to raise an error if
                it is passed, or the name (str) under which the meta-estimator receives it.

        Returns:
            The estimator itself.

        Raises:
            InputTypeError: a name in ``requests`` is not one of these three arguments.
        """
        return self._set_requests("fit", requests)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request or refuse the argument ``sample_weight`` of ``score``; see :meth:`set_fit_request`."""
        return self._set_requests("score", requests)

    def _set_requests(self, method: str, requests: dict[str, bool | str | None]) -> Self:
        routing = self.get_metadata_routing()
        for name, request in requests.items():
            if name not in _ARGUMENTS[method]:
                expected = ", ".join(_ARGUMENTS[method])
                raise InputTypeError(f"`{method}` has no argument `{name}` that can be requested; expected {expected}")
            getattr(routing, method).add_request(param=name, alias=request)
        self._metadata_request = routing  # scikit-learn copies this attribute to clones
        return self
