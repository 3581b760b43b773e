"""The routes. All of them only read."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from rldebug.dashboard.desk import Desk, NoSuchRun
from rldebug.dashboard.events import Events
from rldebug.dashboard.guard import Guard
from rldebug.evidence.pictures import picture

_PICTURE = 100_000_000  # bytes
_KINDS = {"js": "text/javascript", "css": "text/css"}
_FOR_GOOD = {"Cache-Control": "private, max-age=31536000, immutable"}


def application(desk: Desk, events: Events, token: str, port: int) -> ASGIApp:
    assets = Assets()

    async def shell(request: Request) -> Response:
        if not desk.runs.version:
            await run_in_threadpool(desk.runs.look)
        listing = await run_in_threadpool(desk.listing)
        # A name cannot close the element that it stands in.
        data = json.dumps(listing, allow_nan=False).replace("<", "\\u003c")
        return Response(assets.shell.replace("{{runs}}", data), media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "plotly.js":
            return FileResponse(assets.plotly, media_type=_KINDS["js"], headers=assets.caching(request))
        if name not in assets.texts:
            raise HTTPException(404)
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(assets.texts[name], media_type=kind, headers=assets.caching(request))

    async def runs(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(desk.listing))

    async def page(request: Request) -> Response:
        query = request.query_params
        try:
            drawn = await run_in_threadpool(desk.page, query.get("run", ""), query.getlist("with"))
        except NoSuchRun:
            return JSONResponse({"problem": "there is no such run, or no longer"}, 404)
        return Response(drawn, media_type="application/json")

    async def follow(request: Request) -> Response:
        query = request.query_params
        ids = {*query.getlist("run"), *query.getlist("with")}
        stream = events.stream(ids) if request.method == "GET" else iter(())
        return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def media(request: Request) -> Response:
        params = request.path_params
        process = desk.runs.processes.get(params["id"])
        if process is None or params["folder"] not in ("frames", "clips"):
            raise HTTPException(404)
        file = await run_in_threadpool(_picture, process.folder, params["folder"], params["name"])
        if file is None:
            raise HTTPException(404)
        return FileResponse(file, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(events.watch())
        yield
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        await run_in_threadpool(desk.close)

    routes = [
        Route("/", shell),
        Route("/assets/{name}", asset),
        Route("/api/runs", runs),
        Route("/api/page", page),
        Route("/api/events", follow),
        Route("/media/{id:path}/{folder}/{name}", media),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused, Exception: _failed})
    return Guard(app, token, port)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"rldebug: {error.detail}", error.status_code, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"rldebug: this is a bug in rldebug: {type(error).__name__}", 500)


def _picture(folder: Path, inside: str, name: str) -> Path | None:
    file = picture(folder / inside, name)
    try:
        return file if file is not None and file.stat().st_size <= _PICTURE else None
    except OSError:
        return None


class Assets:
    """What the page is made of, read once; the address of each has a digest, and so may be kept by the browser."""

    def __init__(self) -> None:
        own, shared = files("rldebug.dashboard"), files("rldebug.render")
        places = {"dashboard.js": own, "dashboard.css": own, "page.js": shared, "page.css": shared}
        self.texts = {name: place.joinpath(name).read_bytes() for name, place in places.items()}
        self.plotly = _plotly()
        about = self.plotly.stat()
        all_of_it = b"\0".join([*self.texts.values(), f"{about.st_size} {about.st_mtime_ns}".encode()])
        self.digest = hashlib.sha256(all_of_it).hexdigest()[:16]
        self.shell = own.joinpath("dashboard.html").read_text(encoding="utf-8").replace("{{digest}}", self.digest)

    def caching(self, request: Request) -> dict[str, str] | None:
        return _FOR_GOOD if request.query_params.get("v") == self.digest else None


def _plotly() -> Path:
    """Found, not imported: that would cost memory."""
    spec = find_spec("plotly")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0], "package_data", "plotly.min.js")
