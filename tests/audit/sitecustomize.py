"""Found first on PYTHONPATH, this refuses what nlptx promises not to do, and writes down which libraries it opens."""

import os
import sys

REFUSED = (
    *("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser."),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"),
    "pickle.find_class",
)
# What workers, who are forked from the command itself, and it say to each other.
SAID = {
    ("concurrent.futures.process", "_CallItem"),
    ("concurrent.futures.process", "_ResultItem"),
    ("nlptx.scoring", "Scored"),
    ("nlptx.workers", "_do"),
    ("posix", "getpid"),
}
# Older versions of threadpoolctl find the C library so, and those of NumPy's testing tools learn the processor.
ASKED = (["/sbin/ldconfig", "-p"], ["lscpu"])
LOG = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def hook(event, arguments):
    if event == "ctypes.dlopen":
        os.write(LOG, f"opened {arguments[0]}\n".encode())
    elif event == "subprocess.Popen" and list(arguments[1]) in ASKED:
        os.write(LOG, f"asked {arguments[1]}\n".encode())
    elif event == "os.fork":
        os.write(LOG, b"forked\n")
    elif event == "pickle.find_class" and arguments in SAID:
        os.write(LOG, b"said\n")
    elif event.startswith(REFUSED):
        os.write(LOG, f"refused {event}\n".encode())
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(hook)
os.write(LOG, b"watching\n")
