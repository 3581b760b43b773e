"""Who may read: whoever has the token, from this machine, through no other site's page.

A page of another origin cannot read the API: it has no token, its cookie is not sent along, its Origin is refused, and
a name that was made to point here (DNS rebinding) is refused by the Host header.
"""

from __future__ import annotations

import hmac
import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
_WHERE = "rldebug: the token is missing or wrong. It is in the address that `rldebug dashboard` printed: open that one."
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Around the whole application: what it refuses never gets there."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.cookie = f"rldebug-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self._refuse(scope)
        await (refused or self.app)(scope, receive, guarded)

    def _refuse(self, scope: Scope) -> Response | None:
        """What is said instead; None where all is well."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return PlainTextResponse("rldebug: this address is for 127.0.0.1 and localhost alone", 403)
        if any(each != f"http://{hosts[0]}" for each in origins):
            return PlainTextResponse("rldebug: pages of other sites may not read this", 403)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        bearer = headers.get("authorization", "")
        if bearer.lower().startswith("bearer "):
            given.append(bearer[7:].strip())
        shown = any(self._same(each) for each in given)
        if not shown and not self._same(_cookie(headers, self.cookie)):
            return PlainTextResponse(_WHERE, 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("rldebug: this page is for reading", 405, {"Allow": "GET, HEAD"})
        if shown and scope["path"] == "/" and any(name == "token" for name, _ in query):
            rest = urlencode([each for each in query if each[0] != "token"])
            moved = RedirectResponse(f"/?{rest}" if rest else "/", 303)
            moved.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return moved
        return None

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie("; ".join(headers.getlist("cookie"))).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""
