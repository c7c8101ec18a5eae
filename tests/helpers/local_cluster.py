"""Starts clusters of dask.distributed, a package that is imported only when it is needed, because it loads slowly."""

import logging
from importlib.util import find_spec

import pytest

needs_distributed = pytest.mark.skipif(find_spec("distributed") is None, reason="dask.distributed is not installed")


def local_cluster(workers):
    """Return a cluster of worker processes on this machine."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
