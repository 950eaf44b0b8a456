"""A small client of a headless Chromium: pages opened, scripts run, pictures taken.

It speaks the DevTools protocol over two pipes, so that it needs neither a port nor a package.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
    "--hide-scrollbars", "--disable-background-networking", "--disable-extensions",
)  # fmt: skip

_PATIENCE = 60
"""Seconds without a message after which something is wrong."""


def program() -> str | None:
    """The path of an installed browser; None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@dataclass
class Tab:
    """One page of a browser, with the events that it sent."""

    browser: "Browser"
    session: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """The result of a method of the protocol."""
        return self.browser.call(method, self.session, parameters)

    def resize(self, width: int, height: int) -> None:
        """The size of the window; narrow ones count as phones."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def emulate(self, media: str = "screen", **features: str) -> None:
        """The medium, ``screen`` or ``print``, and media features such as a dark scheme."""
        pairs = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=pairs)

    def open(self, url: str) -> None:
        """Load a page and wait until it has loaded; it is another than the one shown."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.browser.until(lambda: self.named("Page.loadEventFired"))

    def run(self, script: str) -> Any:  # noqa: ANN401 - whatever the script gives
        """The value of an expression of JavaScript, or of what it promises.

        Raises ValueError where it throws.
        """
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        if "exceptionDetails" in result:
            raise ValueError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the whole page, or of what the window shows."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))
        path.write_bytes(base64.b64decode(shot["data"]))

    def picture_of(self, selector: str, path: Path, margin: int = 8) -> None:
        """A PNG of the first element that a selector names."""
        box = self.run(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect();"
            " return [r.x + scrollX, r.y + scrollY, r.width, r.height]; })()"
        )
        clip = _rectangle(
            box[0] - margin, box[1] - margin, box[2] + 2 * margin, box[3] + 2 * margin
        )
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": _rectangle(0, 0, size["width"], size["height"])}

    def named(self, method: str) -> list[dict[str, Any]]:
        """The events of a name since the page was opened."""
        return [event["params"] for event in self.events if event["method"] == method]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and exceptions that nobody caught."""
        logged = [entry["entry"]["text"] for entry in self.named("Log.entryAdded")]
        thrown = [str(e["exceptionDetails"]) for e in self.named("Runtime.exceptionThrown")]
        said = [str(e["args"]) for e in self.named("Runtime.consoleAPICalled")]
        return [*logged, *thrown, *said]

    @property
    def requests(self) -> list[str]:
        """The addresses that the page asked for, itself among them."""
        return [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]


def _rectangle(x: float, y: float, width: float, height: float) -> dict[str, float]:
    return {"x": x, "y": y, "width": width, "height": height, "scale": 1}


class Browser:
    """A running browser; use it as a context manager, or close it."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # the protocol's pipes are the descriptors 3 and 4, whatever numbers they have here
        command = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$0" "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", command, path, *_OPTIONS, f"--user-data-dir={self._folder.name}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(theirs_in, theirs_out),
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest = 0, b""
        self._tabs: dict[str, Tab] = {}
        self._answers: dict[int, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it and remove its profile."""
        with suppress(OSError):
            os.close(self._to)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._folder.cleanup()

    def tab(self) -> Tab:
        """A new, empty page."""
        target = self.call("Target.createTarget", "", {"url": "about:blank"})["targetId"]
        wanted = {"targetId": target, "flatten": True}
        tab = Tab(self, self.call("Target.attachToTarget", "", wanted)["sessionId"])
        self._tabs[tab.session] = tab
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        return tab

    def call(self, method: str, session: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a method; RuntimeError with what the browser says against it."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        self.until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def until(self, done: Callable[[], object]) -> None:
        """Read messages until something holds."""
        messages = self._messages()
        while not done():
            message = next(messages)
            if "id" in message:
                self._answers[message["id"]] = message
            elif (tab := self._tabs.get(message.get("sessionId", ""))) is not None:
                tab.events.append(message)

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            while b"\0" not in self._rest:
                if not select.select([self._from], [], [], _PATIENCE)[0]:
                    raise TimeoutError(f"the browser said nothing for {_PATIENCE} s")
                chunk = os.read(self._from, 1 << 20)
                if not chunk:
                    raise RuntimeError("the browser ended")
                self._rest += chunk
            text, _, self._rest = self._rest.partition(b"\0")
            yield json.loads(text)


@contextmanager
def opened(path: str, url: str, width: int = 1200, height: int = 900) -> Iterator[Tab]:
    """A page in a browser of its own."""
    with Browser(path) as browser:
        tab = browser.tab()
        tab.resize(width, height)
        tab.open(url)
        yield tab
