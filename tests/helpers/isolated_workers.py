"""Workers that share no memory with the calling process, like those of a cluster."""

import pickle
from functools import partial

from nlptx.runtime.workers import Workers


class IsolatedWorkers(Workers):
    """Workers that pickle all data and results. ``tasks`` counts the tasks of :meth:`map_shared`."""

    tasks = 0

    def store(self, value):
        return partial(pickle.loads, pickle.dumps(value))

    def map_shared(self, work, shared, items, *, threads_only=False):
        pickled = pickle.dumps((work, shared))
        for item in items:
            self.tasks += 1
            task, data = pickle.loads(pickled)
            yield pickle.loads(pickle.dumps(task(data, pickle.loads(pickle.dumps(item)))))
