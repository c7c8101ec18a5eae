"""Headless Chromium, driven through its DevTools pipe with the standard library alone."""

import json
import os
import shutil
import subprocess

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)
# Names of keys -> their codes on Windows, which Chromium needs, and the text they enter.
_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    " ": (32, " "),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "End": (35, ""),
    "Home": (36, ""),
}


class Browser:
    """A page in Chromium, with its errors and requests.

    Args:
        folder: empty folder for the browser profile.
    """

    def __init__(self, folder):
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        script = f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, CHROMIUM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._number, self._session, self._buffer = 0, None, b""
        self.events = []
        target = next(each for each in self.ask("Target.getTargets")["targetInfos"] if each["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self._commands)
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._answers)

    def ask(self, method, **parameters):
        """Send a command, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self):
        while b"\0" not in self._buffer:
            data = os.read(self._answers, 1 << 16)
            assert data, "Chromium has ended"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path, width=1280, height=900, dark=False, media=""):
        """Load a file, and wait until the page is complete."""
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=scheme)
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def run(self, script):
        """Return the value of a JavaScript expression."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, *keys):
        """Press keys one after the other."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key.upper()[0]), key))
            for kind in ("keyDown", "keyUp"):
                more = {"text": text} if text and kind == "keyDown" else {}
                self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def tab_to(self, name):
        """Press the tab key until the element with this id has the focus."""
        for _ in range(400):
            if self.run("document.activeElement.id") == name:
                return
            self.press("Tab")
        raise AssertionError(f"the tab key does not reach {name}")

    def problems(self):
        """Return the errors and warnings of the page."""
        self.run("new Promise(done => setTimeout(done, 50))")
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [event for event in self.events if event.get("method") in kinds]

    def requests(self):
        """Return the addresses of all requests."""
        self.run("new Promise(done => setTimeout(done, 50))")
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]
