import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from rldebug.dashboard.serve import place

from .conftest import SOUND, append, served, write_run

NASTY = '<img src=x onerror=alert(1)></script><script>alert("x")</script>'


def png() -> bytes:
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(b"\0\0")) + part(b"IEND", b"")


@pytest.fixture
def client(root, unable, tmp_path):
    write_run(root / "sick")
    write_run(root / "sound", SOUND)
    write_run(root / "odd", {NASTY: [1.0, 2.0, 3.0]}, name=NASTY, env={"id": NASTY})
    with (root / "odd" / "readings.jsonl").open("a") as file:
        file.write("{" + "x" * 5_000_000 + "\nnonsense\n[]\n")
    for folder in ("frames", "clips"):
        (root / "sick" / folder).mkdir()
        (root / "sick" / folder / "000001-before.png").write_bytes(png())
    (tmp_path / "secret.png").write_bytes(b"secret")
    (root / "sick" / "frames" / "000002-before.png").symlink_to(tmp_path / "secret.png")
    with served(place(root, 0)) as client:
        yield client


def test_all_of_it(client, root):
    """One server for all: to start one takes a second."""
    the_shell(client)
    the_assets(client)
    a_page(client)
    hostile_content(client)
    hostile_addresses(client)
    pictures(client)
    events(client, root)


def the_shell(client):
    shell = client.get("/").text
    assert NASTY not in shell
    data = shell.partition('id="first">')[2].partition("</script>")[0]
    assert {each["id"] for each in json.loads(data)["runs"]} == {"sick", "sound", "odd"}
    assert client.head("/").status_code == 200


def the_assets(client):
    digest = client.get("/").text.partition("page.js?v=")[2].partition('"')[0]
    for name in ("plotly.js", "page.js", "page.css", "dashboard.js", "dashboard.css"):
        answer = client.get(f"/assets/{name}", params={"v": digest})
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert client.get("/assets/page.js").headers["cache-control"] == "no-store"
    for name in ("app.py", "..%2fapp.py", "dashboard.html"):
        assert client.get(f"/assets/{name}").status_code == 404


def a_page(client):
    page = client.get("/api/page", params={"run": "sick", "with": ["sound"]}).json()
    assert page["runs"] == ["sick", "sound"]
    assert page["extent"]["update"] == 63
    assert [each["id"] for each in page["sections"]][:2] == ["run", "diagnosis"]
    policy = next(each for each in page["sections"] if each["id"] == "policy")
    assert len(policy["charts"][0]["curves"]) == 2


def hostile_content(client):
    page = client.get("/api/page", params={"run": "odd"}).json()
    html = "".join(each["html"] for each in page["sections"])
    assert "<img src=x" not in html
    assert "<script" not in html
    assert "&lt;img src=x" in html


def hostile_addresses(client):
    for id in ("", "..", "../..", "/etc", "sick/../sound", "sick/", "%2e%2e", "a\0b", "x" * 5000):
        answer = client.get("/api/page", params={"run": id})
        assert answer.status_code == 404, id
        assert "Traceback" not in answer.text
        assert "/" not in answer.json()["problem"]
    assert client.get("/nothing").status_code == 404
    assert client.get("/api/page", params=[("run", "sick"), ("with", "nothing")]).status_code == 404


def pictures(client):
    for folder in ("frames", "clips"):
        answer = client.get(f"/media/sick/{folder}/000001-before.png")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/png"
    for path in (
        "sick/frames/000002-before.png", "sick/frames/000003-before.png", "sick/frames/index.jsonl",
        "sick/frames/..%2f..%2frun.json", "sick/frames/%2e%2e/run.json", "sick/../sick/frames/000001-before.png%00",
        "sick/frames/%00.png", "%2fetc/frames/000001-before.png", "sick/audits/000001-before.png", "sick/run.json",
        "..%2fsick/frames/000001-before.png",
    ):  # fmt: skip
        answer = client.get(f"/media/{path}")
        assert answer.status_code == 404, path
        assert b"secret" not in answer.content


def events(client, root):
    with client.stream("GET", "/api/events", params={"run": "sick"}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        first = next_of(lines, "run")
        assert first["id"] == "sick"
        append(root / "sick")
        while (then := next_of(lines, "run"))["version"] == first["version"]:
            pass
        write_run(root / "another")
        next_of(lines, "runs")
    assert "another" in {each["id"] for each in client.get("/api/runs").json()["runs"]}
    page = client.get("/api/page", params={"run": "sick"}).json()
    assert page["versions"]["sick"] != first["version"]
    assert then["id"] == "sick"


def next_of(lines, kind):
    for line in lines:
        if line == f"event: {kind}":
            return json.loads(next(lines).removeprefix("data: "))
    raise AssertionError("the stream has ended")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_server_needs_no_torch(root):
    write_run(root / "sick")
    code = (
        "import sys; from pathlib import Path; import rldebug.dashboard.app, uvicorn\n"
        "from rldebug.dashboard.desk import Desk\n"
        f"desk = Desk(Path({str(root.absolute())!r})); desk.runs.look(); assert desk.page('sick')\n"
        "assert 'torch' not in sys.modules and 'plotly' not in sys.modules\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000  # kB
