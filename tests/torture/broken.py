"""Runs nlptx with a deliberate defect, to show that the torture tests detect it.

The arguments are the name of the defect, followed by those of nlptx."""

import contextlib
import io
import os
import sys
import time


def renames_too_early():
    """Replace the target before the new content is written."""
    from nlptx.io import atomic_write

    @contextlib.contextmanager
    def write_last(path, *, durable=True):
        temporary = f"{path}.0.tmp"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.replace(temporary, path)
        with io.BufferedRandom(atomic_write._OutputFile(descriptor, path)) as file:
            yield file

    atomic_write.atomic_output = write_last


def keeps_temporary_files():
    """Do not delete the temporary files of killed processes."""
    from nlptx.io import atomic_write

    atomic_write.remove_leftovers = lambda target: None


def deletes_files_in_use():
    """Delete every temporary file, including those that another process is writing."""
    from nlptx.io import atomic_write

    atomic_write.remove_leftovers = lambda target: [path.unlink() for path in target.parent.glob(".*.tmp")]


def ignores_full_disk():
    """Report success although the disk is full."""
    from nlptx.errors import OutputError
    from nlptx.io import atomic_write

    @contextlib.contextmanager
    def ignore_errors(path, *, durable=True):
        with contextlib.suppress(OutputError), honest(path) as file:
            yield file

    honest, atomic_write.atomic_output = atomic_write.atomic_output, ignore_errors


def leaves_child_process():
    """Start a child process and never end it."""
    import subprocess

    subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def unordered_words():
    """Order the words as a set does, so that their order depends on the hash seed."""
    from nlptx.cooccurrence import count

    count.rank_words = lambda counts, min_count, max_words: list(set(counts))[:max_words]


def records_jobs():
    """Record the number of jobs in the artifact."""
    import dataclasses

    from nlptx.cooccurrence import count

    honest = count.count_corpus

    def count_corpus(blocks, settings, budget, workers):
        counts = honest(blocks, settings, budget, workers)
        return dataclasses.replace(counts, details={**counts.details, "jobs": workers.jobs})

    count.count_corpus = count_corpus


def depends_on_batch():
    """Make the probabilities of a text depend on the size of its batch."""
    from nlptx.classifier.model import Model

    honest = Model.probabilities

    def probabilities(self, encoded):
        rows = honest(self, encoded)
        weight = 1e-5 * len(encoded)
        return (1 - weight) * rows + weight / rows.shape[1]

    Model.probabilities = probabilities


def reads_everything_first():
    """Read all texts into memory before the first one is processed."""
    from nlptx.corpus import corpus

    honest = corpus.Corpus.__iter__
    corpus.Corpus.__iter__ = lambda self: iter(list(honest(self)))


def leaks_descriptors():
    """Open a file for each of the first 500 texts and never close it. Most systems allow 1,024 open files."""
    from nlptx.corpus import corpus

    honest, descriptors = corpus.Corpus.__iter__, []

    def texts(self):
        for text in honest(self):
            if len(descriptors) < 500:
                descriptors.append(os.open(os.devnull, os.O_RDONLY))
            yield text

    corpus.Corpus.__iter__ = texts


def drops_texts():
    """Drop one text in every 999."""
    from nlptx.corpus import corpus

    honest = corpus.Corpus.__iter__
    corpus.Corpus.__iter__ = lambda self: (text for number, text in enumerate(honest(self)) if number % 999 != 998)


def prints_process_id():
    """Print the process id after each short result."""
    from nlptx.cli.results import prediction_writer

    honest = prediction_writer.PredictionWriter._text_line
    prediction_writer.PredictionWriter._text_line = lambda *arguments: f"{honest(*arguments)}{os.getpid()}"


def misreports_memory_error():
    """Do not recognise out-of-memory errors as such."""
    from nlptx.cli import main

    main.describe_shortage = lambda error, command: None


def waits_forever():
    """Wait forever after an out-of-memory error."""
    from nlptx.cli import main

    def describe_shortage(error, command):
        while True:
            time.sleep(1)

    main.describe_shortage = describe_shortage


DEFECTS = {name: value for name, value in globals().items() if callable(value) and not name.startswith("_")}


def main():
    defect = sys.argv.pop(1)
    DEFECTS[defect]()
    from nlptx.cli.main import main as nlptx

    nlptx()


if __name__ == "__main__":
    main()
