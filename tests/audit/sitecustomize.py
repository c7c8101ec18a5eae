"""Found first on PYTHONPATH, this refuses what nlptx promises not to do, and writes down which libraries it opens."""

import os
import sys

REFUSED = (
    *("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser."),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pty.spawn"),
    "pickle.find_class",
)
# Older versions of threadpoolctl find the C library so, and those of NumPy's testing tools learn the processor.
ASKED = (["/sbin/ldconfig", "-p"], ["lscpu"])
LOG = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def hook(event, arguments):
    if event == "ctypes.dlopen":
        os.write(LOG, f"opened {arguments[0]}\n".encode())
    elif event == "subprocess.Popen" and list(arguments[1]) in ASKED:
        os.write(LOG, f"asked {arguments[1]}\n".encode())
    elif event.startswith(REFUSED):
        os.write(LOG, f"refused {event}\n".encode())
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(hook)
os.write(LOG, b"watching\n")
