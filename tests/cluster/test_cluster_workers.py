"""Tests of a pool of workers that can use a cluster, and of the local pool that it provides."""

from nlptx.cluster.cluster_workers import ClusterWorkers
from nlptx.runtime.workers import Workers


def add(shared, item):
    return shared + item


def test_shared_work_is_done_on_the_cluster_and_leaves_no_files(tmp_path):
    done = []

    class Cluster:
        def map(self, work, items, *, isolated):
            for item in items:
                done.append(item)
                yield work(item)

    assert list(ClusterWorkers(2, Cluster(), str(tmp_path)).map_shared(add, 1, [1, 2, 3])) == [2, 3, 4]
    assert done == [1, 2, 3]
    assert not list(tmp_path.iterdir())


def test_a_local_pool_does_not_use_the_cluster(tmp_path):
    pool = ClusterWorkers(3, None, str(tmp_path)).local()
    assert type(pool) is Workers
    assert (pool.jobs, pool.processes, pool.store) == (3, True, None)
    assert list(pool.map_shared(add, 1, [1, 2, 3])) == [2, 3, 4]
