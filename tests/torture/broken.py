"""nlptx with a defect put in, to show that the torture tests notice it: ``broken.py DEFECT ARGUMENTS...``."""

import contextlib
import io
import os
import sys


def early():
    """Take the place of the target first, and write then."""
    from nlptx import output

    @contextlib.contextmanager
    def write_last(path):
        temporary = f"{path}.0.tmp"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        os.replace(temporary, path)
        with io.BufferedRandom(output._Reporting(descriptor, path)) as file:
            yield file

    output.atomic_output = write_last


def litter():
    """Leave the temporary files of the dead where they are."""
    from nlptx import output

    output._remove_litter = lambda target: None


def greedy():
    """Take every temporary file for litter, also those of the living."""
    from nlptx import output

    output._remove_litter = lambda target: [path.unlink() for path in target.parent.glob(".*.tmp")]


def silent():
    """Take a full disk for success."""
    from nlptx import output

    @contextlib.contextmanager
    def careless(path):
        with contextlib.suppress(output.OutputError), honest(path) as file:
            yield file

    honest, output.atomic_output = output.atomic_output, careless


def orphans():
    """Start a process that nobody ends."""
    import subprocess

    subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


DEFECTS = {name: value for name, value in globals().items() if callable(value) and not name.startswith("_")}


def main():
    defect = sys.argv.pop(1)
    DEFECTS[defect]()
    from nlptx.cli import main as nlptx

    nlptx()


if __name__ == "__main__":
    main()
