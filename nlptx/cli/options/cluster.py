"""The options ``--cluster`` and ``--dry-run``, and functions shared by the commands that have them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.command import option
from nlptx.cli.options.shared import CommonOptions
from nlptx.cli.terminal.reporter import print_json
from nlptx.cli.terminal.stop_signal import StopSignal
from nlptx.errors import SettingsError
from nlptx.io.output_path import STDOUT
from nlptx.io.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from nlptx.cluster.cluster import Cluster
    from nlptx.cluster.cluster_workers import ClusterWorkers
    from nlptx.corpus.partition import Partition


@dataclass(frozen=True)
class ClusterOptions:
    """Values of the options ``--cluster`` and ``--dry-run``.

    Args:
        address: address of the cluster; None to use no cluster.
        dry_run: whether to print the plan instead of carrying it out.
    """

    address: str | None
    dry_run: bool

    def open(self, paths: Sequence[str], common: CommonOptions, per_worker: int = 2) -> Cluster:
        """Return the cluster, a context manager that connects at the start of its ``with`` block.

        Args:
            paths: files and folders to which every worker must have access.
            common: options shared by all commands.
            per_worker: number of tasks assigned to each worker thread at a time.

        Raises:
            NlptxError: the cluster cannot be used; see :class:`nlptx.cluster.cluster.Cluster`.
        """
        from nlptx.cluster.cluster import Cluster
        from nlptx.cluster.worker import Requirements

        assert self.address is not None
        stop = click.get_current_context().ensure_object(StopSignal)
        return Cluster(self.address, Requirements.of(paths), common.reporter.note, stop.check, per_worker)

    @contextmanager
    def workers(
        self,
        output: str,
        paths: Sequence[str],
        common: CommonOptions,
        *,
        tmp_dir: str | None = None,
        per_worker: int = 2,
    ) -> Iterator[ClusterWorkers]:
        """Yield the workers of the cluster, which share a folder for intermediate results; see :func:`shared_folder`.

        Args:
            output: path of the output.
            paths: files to which every worker must have access.
            common: options shared by all commands.
            tmp_dir: parent folder that the user chose; None for the folder of the output.
            per_worker: number of tasks assigned to each worker thread at a time.
        """
        from nlptx.cluster.cluster_workers import ClusterWorkers

        with shared_folder(output, tmp_dir) as folder, self.open([*paths, folder], common, per_worker) as cluster:
            yield ClusterWorkers(common.jobs, cluster, folder)

    def print_plan(self, plan: dict[str, Any], tasks: int, seconds: float, common: CommonOptions) -> None:
        """Print the plan of a command: what it would do on the cluster.

        Args:
            plan: values to print, by name; this method adds the estimated times.
            tasks: number of tasks that can run at the same time.
            seconds: estimated time with one worker.
            common: options shared by all commands.
        """
        from nlptx.cluster.connection import LOCAL

        assert self.address is not None
        plan["seconds_on_one_worker"] = round(seconds, 1)
        if self.address.startswith(LOCAL):
            plan["seconds"] = round(seconds / min(int(self.address.removeprefix(LOCAL)), tasks), 1)
        if common.json:
            print_json(plan)
        else:
            facts = ((name.replace("_", " "), value) for name, value in plan.items())
            common.reporter.facts(f"plan for {self.address}", facts)

    def print_partitions(
        self, partitions: Sequence[Partition], rate: float, memory: int, common: CommonOptions
    ) -> None:
        """Print the plan of a command that processes the partitions of its input.

        Args:
            partitions: the input, cut into partitions.
            rate: speed of one worker, in bytes of text per second, measured on a sample; 0 if there is no text.
            memory: maximum memory of a task, in bytes.
            common: options shared by all commands.
        """
        size = sum(partition.size for partition in partitions)
        plan: dict[str, Any] = {"partitions": len(partitions), "bytes": size}
        if not all(partition.is_whole for partition in partitions):
            plan["largest_partition"] = max(partition.size for partition in partitions)
        plan["memory_per_worker"] = memory
        self.print_plan(plan, len(partitions), size / rate if rate else 0.0, common)


def path_for_workers(path: str | None) -> str | None:
    """Return the absolute path of a file that the workers read; None if there is none.

    Raises:
        SettingsError: the path is ``-``, because workers cannot read standard input.
    """
    if path == "-":
        raise SettingsError("the workers of a cluster cannot read standard input", hint="Use a file.")
    return None if path is None else os.path.abspath(path)


def cluster_options(function: Callable[..., Any], group: str = "Cluster") -> Callable[..., Any]:
    """Add ``--cluster`` and ``--dry-run`` to a command, which receives both values in the argument ``cluster``.

    The help lists the options in the section ``group``.
    """

    @option(
        "--cluster",
        metavar="ADDRESS",
        group=group,
        help="Use a cluster: local:N (N processes), tcp://HOST:PORT or tls://HOST:PORT (dask).",
    )
    @option("--dry-run", is_flag=True, group=group, help="With --cluster, only print what would be done.")
    @functools.wraps(function)
    def wrapped(*args: Any, cluster: str | None, dry_run: bool, **kwargs: Any) -> Any:
        if cluster is None and dry_run:
            raise click.UsageError("--dry-run needs --cluster, because it prints what the cluster would do.")
        if cluster is not None:
            from nlptx.cluster.connection import check_address

            check_address(cluster)
        return function(*args, cluster=ClusterOptions(cluster, dry_run), **kwargs)

    return wrapped


def shared_folder(output: str, tmp_dir: str | None) -> AbstractContextManager[str]:
    """Return a context manager for a folder in which all workers share intermediate results.

    The folder is made at the start of the ``with`` block and removed at its end.

    Args:
        output: path of the output; ``-`` is treated like a file in the current folder.
        tmp_dir: parent folder that the user chose; None for the folder of the output, which is usually on shared
            storage.

    Raises:
        OutputError: the folder cannot be made.
    """
    if tmp_dir is not None:
        parent = os.path.abspath(tmp_dir)
    else:
        parent = os.getcwd() if output == STDOUT else os.path.dirname(os.path.abspath(output))
    hint = "Run the command in a folder that all workers can access, or write the output to such a folder."
    return temporary_folder(parent, hint)


def size_of(texts: Iterable[str]) -> int:
    """Return the total size of the texts, in bytes."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
