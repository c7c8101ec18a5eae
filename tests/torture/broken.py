"""nlptx with a defect put in, to show that the torture tests notice it: ``broken.py DEFECT ARGUMENTS...``."""

import contextlib
import io
import os
import sys
import time


def early():
    """Take the place of the target first, and write then."""
    from nlptx.io import atomic_write

    @contextlib.contextmanager
    def write_last(path):
        temporary = f"{path}.0.tmp"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.replace(temporary, path)
        with io.BufferedRandom(atomic_write._Reporting(descriptor, path)) as file:
            yield file

    atomic_write.atomic_output = write_last


def litter():
    """Leave the temporary files of the dead where they are."""
    from nlptx.io import atomic_write

    atomic_write.remove_litter = lambda target: None


def greedy():
    """Take every temporary file for litter, also those of the living."""
    from nlptx.io import atomic_write

    atomic_write.remove_litter = lambda target: [path.unlink() for path in target.parent.glob(".*.tmp")]


def silent():
    """Take a full disk for success."""
    from nlptx.io import atomic_write

    @contextlib.contextmanager
    def careless(path):
        with contextlib.suppress(atomic_write.OutputError), honest(path) as file:
            yield file

    honest, atomic_write.atomic_output = atomic_write.atomic_output, careless


def orphans():
    """Start a process that nobody ends."""
    import subprocess

    subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def hashed():
    """Let words stand in the order of a set."""
    from nlptx.cooccurrence import count

    count.rank_words = lambda counts, least, most: list(set(counts))[:most]


def counts_its_jobs():
    """Tell in the artifact how it was made."""
    import dataclasses

    from nlptx.cooccurrence import count

    honest = count.count_corpus

    def count_corpus(blocks, settings, space, workers):
        counts = honest(blocks, settings, space, workers)
        return dataclasses.replace(counts, details={**counts.details, "jobs": workers.jobs})

    count.count_corpus = count_corpus


def sociable():
    """Let the company of a text show in its probabilities."""
    from nlptx.classifier.model import Model

    honest = Model.probabilities

    def probabilities(self, encoded):
        rows = honest(self, encoded)
        share = 1e-5 * len(encoded)
        return (1 - share) * rows + share / rows.shape[1]

    Model.probabilities = probabilities


def hoarding():
    """Read all of the text before the first of it is used."""
    from nlptx.corpus import corpus

    honest = corpus.Corpus.__iter__
    corpus.Corpus.__iter__ = lambda self: iter(list(honest(self)))


def careless():
    """Open a file for each of the first texts, and close none. Most systems let a process have 1,024."""
    from nlptx.corpus import corpus

    honest, kept = corpus.Corpus.__iter__, []

    def texts(self):
        for text in honest(self):
            if len(kept) < 500:
                kept.append(os.open(os.devnull, os.O_RDONLY))
            yield text

    corpus.Corpus.__iter__ = texts


def forgetful():
    """Lose a text now and then."""
    from nlptx.corpus import corpus

    honest = corpus.Corpus.__iter__
    corpus.Corpus.__iter__ = lambda self: (text for number, text in enumerate(honest(self)) if number % 999 != 998)


def moody():
    """Score by the process id."""
    from nlptx.cli import prediction_writer

    honest = prediction_writer.PredictionWriter._short
    prediction_writer.PredictionWriter._short = lambda *arguments: f"{honest(*arguments)}{os.getpid()}"


def puzzled():
    """Take a lack of memory for something else."""
    from nlptx.cli import main

    main.describe_shortage = lambda error, command: None


def endless():
    """Try again for ever where there is no memory."""
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
