"""Stops nlptx when it does something that SECURITY.md rules out, and logs which libraries it opens.

Python imports this file automatically, because its folder is on PYTHONPATH.
"""

import os
import sys

REFUSED = (
    *("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser."),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"),
    "pickle.find_class",
)
# Classes of the objects that a command and its worker processes exchange.
EXCHANGED = {
    ("nlptx.classifier.scoring", "Scored"),
    ("nlptx.training.gradients", "AccumulatorTotals"),
}
# feature_cache.py may unpickle, because it reads only files that the same run of tune wrote to a temporary folder.
CACHE = os.path.join("nlptx", "training", "feature_cache.py")
# Older versions of threadpoolctl run ldconfig to find the C library, and NumPy's test tools run lscpu.
ALLOWED = (["/sbin/ldconfig", "-p"], ["lscpu"])
LOG = os.environ["AUDIT_LOG"]


def note(text):
    # The log is opened for each line, because worker processes close all open files.
    log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{text}\n".encode())
    os.close(log)


def is_read_from_cache():
    frame = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.endswith(CACHE):
        frame = frame.f_back
    return frame is not None


def hook(event, arguments):
    if event == "ctypes.dlopen":
        note(f"opened {arguments[0]}")
    elif event == "subprocess.Popen" and list(arguments[1]) in ALLOWED:
        note(f"allowed {arguments[1]}")
    elif event == "os.fork":
        note("forked")
    elif event == "pickle.find_class" and arguments in EXCHANGED:
        note("exchanged")
    elif event == "pickle.find_class" and is_read_from_cache():
        note("cached")
    elif event.startswith(REFUSED):
        note(f"refused {event}")
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(hook)
note("watching")
