"""The server: bound to this machine alone, with a token of its own, until Ctrl-C.

The address is known, and may be opened, before anything heavy is imported: whoever connects waits until it answers.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from rldebug.dashboard.events import Events

HOST = "127.0.0.1"
PORT = 6870  # if it is free


class DashboardError(Exception):
    """It cannot be started; the message says why."""


@dataclass(frozen=True)
class Place:
    """What is shown, and where it can be had."""

    root: Path
    only: str | None
    socket: socket.socket
    token: str
    run: str | None = None  # that is shown first

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        query = {"token": self.token, **({"run": self.run} if self.run else {})}
        return f"http://{HOST}:{self.port}/?{urlencode(query)}"


def place(folder: Path, port: int | None = None, run: str | None = None) -> Place:
    """Raises DashboardError where it cannot be. `folder` holds runs, or is one; `port` 0 is any that is free."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise DashboardError("the dashboard needs starlette and uvicorn: pip install 'rldebug[dashboard]'")
    if folder.exists() and not folder.is_dir():
        raise DashboardError(f"{folder} is a file, expected a folder of runs, or a run folder")
    only = None
    if (folder / "run.json").is_file():
        folder = folder.absolute()
        folder, only = folder.parent, folder.name
    return Place(folder, only, _bound(port), secrets.token_urlsafe(24), run or only)


def _bound(port: int | None) -> socket.socket:
    for each in (PORT, 0) if port is None else (port,):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two servers share a port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, each))
            sock.listen(128)
            return sock
        except (OSError, OverflowError) as error:
            sock.close()
            if each == PORT and port is None:
                continue
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "is taken: name another, or 0 for any that is free" if taken else f"cannot be used: {error}"
            raise DashboardError(f"--port {each} {reason}") from None
    raise AssertionError


def serve(place: Place, *, browser: bool = True, until: Callable[[Events], bool] | None = None) -> None:
    """Until Ctrl-C; or until `until` says so, which is asked now and then."""
    import uvicorn

    from rldebug.dashboard.app import application
    from rldebug.dashboard.desk import Desk
    from rldebug.dashboard.events import Events

    desk = Desk(place.root, place.only)
    events = Events(desk)

    class Server(uvicorn.Server):
        def handle_exit(self, *arguments: object) -> None:
            events.close()
            self.should_exit = True

        async def on_tick(self, counter: int) -> bool:
            if until is not None and until(events):
                events.close()
                self.should_exit = True
            return await super().on_tick(counter)

    config = uvicorn.Config(
        application(desk, events, place.token, place.port),
        log_level="critical",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=2,
    )
    if browser and can_show():
        threading.Thread(target=webbrowser.open, args=(place.url,), daemon=True).start()
    try:
        Server(config).run(sockets=[place.socket])
    except KeyboardInterrupt:
        pass  # as it was asked to


def can_show() -> bool:
    """Is there a screen? Without one, a browser would open in the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
