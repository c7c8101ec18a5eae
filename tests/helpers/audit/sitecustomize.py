"""Found first on PYTHONPATH, this refuses what nlptx promises not to do, and writes down which libraries it opens."""

import os
import sys

REFUSED = (
    *("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser."),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"),
    "pickle.find_class",
)
# What a command and the worker processes that it forks say to each other.
SAID = {
    ("nlptx.classifier.scoring", "Scored"),
    ("nlptx.training.gradients", "AccumulatorTotals"),
}
# Older versions of threadpoolctl find the C library so, and those of NumPy's testing tools learn the processor.
ASKED = (["/sbin/ldconfig", "-p"], ["lscpu"])
LOG = os.environ["AUDIT_LOG"]


def note(text):
    # Opened each time, as a process that helps with training closes what it has open.
    log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{text}\n".encode())
    os.close(log)


def hook(event, arguments):
    if event == "ctypes.dlopen":
        note(f"opened {arguments[0]}")
    elif event == "subprocess.Popen" and list(arguments[1]) in ASKED:
        note(f"asked {arguments[1]}")
    elif event == "os.fork":
        note("forked")
    elif event == "pickle.find_class" and arguments in SAID:
        note("said")
    elif event.startswith(REFUSED):
        note(f"refused {event}")
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(hook)
note("watching")
