import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse

from rldebug.dashboard.guard import Guard

TOKEN = "the-right-one"


class Client:
    def __init__(self, host="127.0.0.1:6870", **headers):
        transport = httpx.ASGITransport(Guard(PlainTextResponse("secret"), TOKEN, 6870))
        self._client = httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)

    def request(self, method, path, **more):
        return asyncio.run(self._client.request(method, path, **more))

    def get(self, path, **more):
        return self.request("GET", path, **more)


def refused(answer, status=403):
    assert answer.status_code == status
    assert "secret" not in answer.text
    return answer.text


def test_the_token_is_exchanged_for_a_cookie():
    own = Client()
    answer = own.get("/?token=the-right-one&run=a%26b&with=c")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?run=a%26b&with=c"
    cookie = answer.headers["set-cookie"].lower()
    assert "rldebug-6870=" in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert own.get("/").text == "secret"


def test_without_a_token_nothing_is_said_but_where_it_is():
    assert "printed" in refused(Client().get("/"))
    assert "printed" in refused(Client().get("/assets/page.js"))


@pytest.mark.parametrize("token", ["", "wrong", "the-right-on", "the-right-one2", "ä", "\x00"])
def test_a_wrong_token_is_refused(token):
    refused(Client().get("/api/runs", params={"token": token}))
    refused(Client(cookie=f"rldebug-6870={token}".encode("latin-1")).get("/"))
    refused(Client(authorization=f"Bearer {token}".encode("latin-1")).get("/"))


def test_a_token_may_be_given_each_time():
    assert Client().get("/api/runs?token=the-right-one").text == "secret"
    assert Client(authorization=f"Bearer {TOKEN}").get("/").text == "secret"


def test_a_cookie_of_another_port_does_not_count():
    refused(Client(cookie=f"rldebug-6871={TOKEN}").get("/"))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:6870", "127.0.0.1.evil.example", "localhost.evil", "0.0.0.0"]
)
def test_another_host_is_refused_even_with_the_token(host):
    refused(Client(host).get("/api/runs?token=the-right-one"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:8000"])
def test_this_machine_may(host):
    assert Client(host).get("/api/runs?token=the-right-one").text == "secret"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:6870"])
def test_another_origin_is_refused_even_with_the_token(origin):
    refused(Client(origin=origin).get("/api/runs?token=the-right-one"))


def test_its_own_origin_may():
    assert Client(origin="http://127.0.0.1:6870").get("/?token=the-right-one&x").status_code == 303


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_it_is_for_reading(method):
    answer = Client(authorization=f"Bearer {TOKEN}").request(method, "/api/runs")
    refused(answer, 405)
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/?token=the-right-one", "/api/runs?token=the-right-one", "/"])
def test_headers_of_every_answer(path):
    headers = Client(origin="http://127.0.0.1:6870").get(path).headers
    assert not [each for each in headers if each.startswith("access-control-")]
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
