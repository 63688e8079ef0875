"""Firefox and WebKitGTK as programs drive them: one set of commands, two ways to send them.

Both know the commands of WebDriver (https://www.w3.org/TR/webdriver2/). WebKitGTK's driver takes
them over HTTP. Firefox takes them on a socket of its own, Marionette, so that no further program
is needed; its names of the commands are those of ``MARIONETTE``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

PATIENCE = 180  # seconds, for what never comes, on a machine however busy
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FIREFOX = ("firefox-esr", "firefox")
WEBKIT = ("WebKitWebDriver",)
SCREEN = ("Xvfb",)  # WebKitGTK draws on a screen, if on one that nobody sees
ENTER = "\ue007"
ESCAPE = "\ue00c"
MARIONETTE = {
    "url": "WebDriver:Navigate",
    "execute/sync": "WebDriver:ExecuteScript",
    "execute/async": "WebDriver:ExecuteAsyncScript",
    "element": "WebDriver:FindElement",
    "click": "WebDriver:ElementClick",
    "value": "WebDriver:ElementSendKeys",
    "actions": "WebDriver:PerformActions",
    "timeouts": "WebDriver:SetTimeouts",
    "window/rect": "WebDriver:SetWindowRect",
}
PREFERENCES = {"dom.w3c_touch_events.enabled": 1, "intl.accept_languages": "id"}


class CommandRefused(Exception):
    """A browser could not do what it was told; the message is its own."""


class Driver(ABC):
    """One tab of one browser."""

    @abstractmethod
    def send(self, command: str, body: Mapping[str, Any], element: str | None = None) -> Any:
        """Send one command, about an element where there is one; return its value."""

    def open(self, address: str) -> None:
        self.send("url", {"url": address})

    def reload(self) -> None:
        self.run("globalThis.isOld = true; location.reload()")
        self.expect("globalThis.isOld === undefined && document.readyState === 'complete'")

    def run(self, script: str, *arguments: object) -> Any:
        return self.send("execute/sync", {"script": script, "args": list(arguments)})

    def settled(self, script: str, *arguments: object) -> Any:
        waiting = f"const done = arguments[arguments.length - 1];(async () => {{{script}}})()"
        waiting += ".then(done, (error) => done(`failed: ${error}`));"
        return self.send("execute/async", {"script": waiting, "args": list(arguments)})

    def click(self, selector: str) -> None:
        self.send("click", {}, self._element(selector))

    def tap(self, selector: str) -> None:
        origin = {ELEMENT: self._element(selector)}
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        finger = {
            "type": "pointer",
            "id": "finger",
            "parameters": {"pointerType": "touch"},
            "actions": [
                {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0},
            ],
        }
        self.send("actions", {"actions": [finger]})

    def press(self, *keys: str) -> None:
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.send("actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def expect(self, script: str, *arguments: object, equals: object = True) -> None:
        def value() -> Any:
            with suppress(CommandRefused):  # the page is just being left
                return self.run(f"return {script}", *arguments)

        until(lambda: value() == equals, f"{script} is not {equals!r}")

    def _element(self, selector: str) -> str:
        result = self.send("element", {"using": "css selector", "value": selector})
        return str(result[ELEMENT])


class WebKit(Driver):
    def __init__(self, address: str) -> None:
        self._http = httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False)
        options = {"binary": browser_of_webkit(), "args": ["--automation"]}
        expected = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        begun = self._ask("session", {"capabilities": expected})
        self._session = f"session/{begun['sessionId']}"

    def send(self, command: str, body: Mapping[str, Any], element: str | None = None) -> Any:
        about = f"element/{element}/" if element else ""
        return self._ask(f"{self._session}/{about}{command}", body)

    def close(self) -> None:
        self._http.delete(self._session)
        self._http.close()

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        answer = self._http.post(path, json=body).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise CommandRefused(f"{answer['error']}: {answer.get('message')}")
        return answer


class Firefox(Driver):
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._count = 0
        self._read()  # who it is
        self._ask("WebDriver:NewSession", {})

    def send(self, command: str, body: Mapping[str, Any], element: str | None = None) -> Any:
        about = {"id": element} if element else {}
        answer = self._ask(MARIONETTE[command], {**body, **about})
        return answer.get("value") if isinstance(answer, dict) else answer

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _ask(self, name: str, body: Mapping[str, Any]) -> Any:
        self._count += 1
        message = json.dumps([0, self._count, name, body]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self._read()
        if error:
            raise CommandRefused(f"{error['error']}: {error.get('message')}")
        return answer

    def _read(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox has gone."
            length += byte
        return json.loads(self._stream.read(int(length)))


def program(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def browser_of_webkit() -> str:
    result = sorted(Path("/usr/lib").glob("**/webkit2gtk-4*/MiniBrowser"))
    return str(result[-1]) if result else "MiniBrowser"


@contextmanager
def firefox(folder: Path) -> Iterator[Driver]:
    path = program(FIREFOX)
    assert path
    profile = folder / "firefox"
    profile.mkdir()
    expected = {**PREFERENCES, "marionette.port": 0}
    lines = [f"user_pref({json.dumps(key)}, {json.dumps(to)});\n" for key, to in expected.items()]
    (profile / "user.js").write_text("".join(lines), "utf-8")
    arguments = [path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with ExitStack() as ending:
        _started(ending, arguments, folder)
        until(lambda: _port(profile) is not None, "Firefox did not start")
        driver = Firefox(_port(profile) or 0)
        ending.callback(driver.close)
        yield driver


@contextmanager
def webkit(folder: Path) -> Iterator[Driver]:
    path, screen = program(WEBKIT), program(SCREEN)
    assert path
    assert screen
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ExitStack() as ending:
        display = _display(ending, screen, folder)
        _started(ending, [path, f"--port={port}"], folder, DISPLAY=display)
        until(lambda: _answers(port), "WebKitWebDriver did not start")
        driver = WebKit(f"http://127.0.0.1:{port}")
        ending.callback(driver.close)
        yield driver


ENGINES: dict[str, tuple[Callable[[Path], AbstractContextManager[Driver]], str, bool]] = {
    "Firefox": (firefox, "firefox-esr", bool(program(FIREFOX))),
    "WebKitGTK": (webkit, "webkit2gtk-driver xvfb", bool(program(WEBKIT) and program(SCREEN))),
}
"""How each browser is started, the packages it needs, and whether they are installed."""


def _display(ending: ExitStack, screen: str, folder: Path) -> str:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as output:
        arguments = [screen, "-displayfd", str(writing), "-screen", "0", "1280x1000x24"]
        _started(ending, arguments, folder, keep=writing)
        os.close(writing)
        return f":{int(output.readline())}"


def _started(
    ending: ExitStack, arguments: list[str], folder: Path, *, keep: int | None = None, **more: str
) -> None:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    surroundings = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home), **more}
    log = ending.enter_context((folder / "browser.log").open("ab"))
    process = subprocess.Popen(
        arguments,
        env=surroundings,
        stdout=log,
        stderr=log,
        pass_fds=() if keep is None else (keep,),
    )
    ending.callback(process.wait, PATIENCE)
    ending.callback(process.terminate)


def until(is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def _port(profile: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((profile / "MarionetteActivePort").read_text("ascii"))
    return None


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
