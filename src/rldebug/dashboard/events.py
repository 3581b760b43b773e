"""Server-sent events: a page learns that something is new, and asks for it."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool

from rldebug.dashboard.desk import Desk

_EVERY = 1.0  # seconds between two looks
_AT_MOST = 20  # a look that took long is not taken again before so many times as long
_PING = 15.0


class Events:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pages = 0  # that are open
        self.left = time.monotonic()  # when the last one was closed
        self.closed = False
        self._waiting: set[asyncio.Event] = set()

    async def watch(self) -> None:
        """Look at the runs as long as the server is there."""
        while not self.closed:
            began = time.monotonic()
            try:
                more = await run_in_threadpool(self.desk.step)
            except Exception:  # something in a folder that nobody thought of: the other runs go on
                more = False
                traceback.print_exc()
            self._wake()
            took = time.monotonic() - began
            await asyncio.sleep(0.02 if more else max(_EVERY, min(_AT_MOST * took, 30.0)))

    def close(self) -> None:
        """The streams end: a server that stops waits for them."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        for each in self._waiting:
            each.set()

    async def stream(self, ids: set[str]) -> AsyncIterator[str]:
        """For a page that shows these runs: first where things stand, then what changes, each at most once a second."""
        new = asyncio.Event()
        self._waiting.add(new)
        self.desk.lookers.update(ids)
        self.pages += 1
        sent: dict[str, str] = {}
        try:
            yield "retry: 2000\n\n"
            while not self.closed:
                new.clear()
                now = {"": str(self.desk.runs.version), **self.desk.versions(ids)}
                changed = {id: version for id, version in now.items() if sent.get(id) != version}
                for id, version in changed.items():
                    name, data = ("run", {"id": id, "version": version}) if id else ("runs", {"version": version})
                    yield f"event: {name}\ndata: {json.dumps(data)}\n\n"
                sent = now
                if changed:
                    await asyncio.sleep(_EVERY)
                try:
                    await asyncio.wait_for(new.wait(), _PING)
                except asyncio.TimeoutError:
                    yield ": still there\n\n"
        finally:
            self._waiting.discard(new)
            self.desk.lookers.subtract(ids)
            self.pages -= 1
            self.left = time.monotonic()
