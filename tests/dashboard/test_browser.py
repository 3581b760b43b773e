"""What a person sees, in headless Chromium."""

import json

import pytest

from rldebug import demo
from rldebug.evidence.run import Reading, encode
from rldebug.exhibit import exhibited
from rldebug.render.page import write_page

from .browser import browser, needs_browser, page, program, served

pytestmark = needs_browser

HOSTILE = '<img src=x onerror=alert(1)></script><script>alert("x")</script>'
CONTRAST = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


@pytest.fixture(scope="module")
def opened():
    with browser() as each:
        yield each


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The demo's broken run and its healthy twin, and one that somebody has tampered with."""
    folder = tmp_path_factory.mktemp("seen") / "runs"
    demo.watch("demo-healthy", folder)
    report, seen = demo.watch("demo-broken", folder, planted=True)
    write_page(exhibited(report, seen), folder.parent / "report.html")
    hostile = folder / "hostile"
    hostile.mkdir()
    (hostile / "run.json").write_text(
        json.dumps({"format": 1, "name": HOSTILE, "env": {"id": HOSTILE}, "state": "finished"})
    )
    numbers = {HOSTILE: 0.0, f"policy/{HOSTILE}": 0.0, "episode/return_mean": 0.0}
    lines = [encode(Reading(i, i, float(i), {name: float(i) for name in numbers})) for i in range(40)]
    (hostile / "readings.jsonl").write_text("\n".join(lines) + "\n{not json\n")
    return folder


@pytest.fixture(scope="module")
def url(runs):
    with served(runs) as (address, _):
        yield address


def at(url, run, **more):
    """The address with a run chosen."""
    asked = [f"run={run}", *(f"with={each}" for each in more.get("beside", ()))]
    return f"{url}&{'&'.join(asked)}"


def drawn(seen, section):
    """Its first chart, which is drawn as soon as it comes into view."""
    seen.locator(f"#{section}").wait_for(state="attached")
    seen.locator(f"#{section}").scroll_into_view_if_needed()
    seen.locator(f"#{section} [data-drawn]").first.wait_for()


def until(seen, expression):
    """By asking again and again: the page's own policy lets nobody evaluate text in it."""
    for _ in range(600):
        if seen.evaluate(expression):
            return
        seen.wait_for_timeout(100)
    raise AssertionError(f"never: {expression}")


def test_the_diagnosis_is_what_is_seen_first(opened, url):
    with page(opened, at(url, "demo-broken")) as seen:
        finding = seen.locator("#ADV003 h3")
        finding.wait_for()
        assert "advantages have the wrong sign" in finding.inner_text()
        assert finding.bounding_box()["y"] < 900  # without scrolling
        assert seen.locator("#sections > section").first.get_attribute("id") == "diagnosis"
        assert seen.locator("#sections > section").last.get_attribute("id") == "losses"
        drawn(seen, "learning")


def test_a_finding_opens_its_page_of_the_catalogue(opened, url):
    with page(opened, at(url, "demo-broken")) as seen:
        summary = seen.locator("#ADV003 summary", has_text="the page of ADV003")
        summary.click()
        entry = seen.locator("#ADV003 .entry")
        entry.wait_for()
        assert "What to try first" in entry.inner_text()


def test_runs_are_drawn_over_one_another(opened, url):
    with page(opened, at(url, "demo-broken")) as seen:
        drawn(seen, "learning")
        seen.get_by_label("draw demo-healthy beside it").check()
        seen.locator("#comparison").wait_for()
        assert "They part at update 0" in seen.locator("#comparison").inner_text()
        assert seen.locator("#run .runs li").all_inner_texts() == ["demo-broken", "demo-healthy"]
        until(seen, "document.querySelector('#learning [data-drawn]').data.length === 4")
        seen.reload()  # it is in the address
        seen.locator("#comparison").wait_for()


def test_a_run_is_followed_while_it_goes_on(opened, url, runs):
    with page(opened, url) as seen, program(demo.PROGRAM, runs, "goes-on", "--iterations", "4000"):
        seen.locator("#runs input[type=radio][value=goes-on]").check(timeout=60_000)
        seen.locator("#run h1", has_text="goes-on").wait_for()
        drawn(seen, "learning")
        seen.evaluate("window.marked = document.querySelector('#learning [data-drawn]')")
        points = seen.evaluate("window.marked.data[0].x.length")
        updates = seen.locator("#run .facts div", has_text="updates").inner_text()
        until(seen, f"window.marked.data[0].x.length > {points}")
        assert seen.locator("#run .facts div", has_text="updates").inner_text() != updates
        assert seen.evaluate("document.querySelector('#learning [data-drawn]') === window.marked")  # in place
        assert seen.locator("#live-words").inner_text() == "live"


def test_what_is_open_stays_open_when_something_is_new(opened, url, runs):
    with page(opened, at(url, "demo-broken")) as seen:
        seen.locator("#ADV003 summary", has_text="the page of ADV003").click()
        seen.evaluate("window.scrollTo(0, 600)")
        with (runs / "demo-broken" / "readings.jsonl").open("a") as file:
            file.write(encode(Reading(401, 6416, 9.9, {"loss/policy": 0.5, "user/new": 1.0})) + "\n")
        seen.locator("#yours").wait_for(state="attached")
        assert seen.locator("#ADV003 .entry").is_visible()
        assert seen.evaluate("window.scrollY") == 600


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out(opened, url, width):
    with page(opened, at(url, "demo-broken", beside=["demo-healthy"]), width=width) as seen:
        seen.locator("#ADV003").wait_for()
        seen.locator("#losses").scroll_into_view_if_needed()
        assert seen.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing(opened, url, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    with page(opened, at(url, "demo-broken", beside=["demo-healthy"]), width=width, color_scheme=scheme) as seen:
        seen.locator("#ADV003").wait_for()
        seen.locator("#ADV003 summary", has_text="the page of ADV003").click()
        found = Axe().run(seen, options=CONTRAST)
        assert [f"{each['id']}: {each['nodes'][0]['html']}" for each in found.response["violations"]] == []


def test_everything_is_reached_by_the_keyboard(opened, url):
    with page(opened, at(url, "demo-broken")) as seen:
        seen.locator("#ADV003").wait_for()
        reached = set()
        for _ in range(60):
            seen.keyboard.press("Tab")
            reached.add(
                seen.evaluate("(({tagName, type}) => type ? `${tagName} ${type}` : tagName)(document.activeElement)")
            )
            if seen.evaluate("document.activeElement.innerText") == "the page of ADV003":
                break
        assert {"INPUT radio", "INPUT checkbox", "A", "SUMMARY"} <= reached
        seen.keyboard.press("Enter")
        seen.locator("#ADV003 .entry").wait_for()


def test_what_somebody_wrote_into_a_run_folder_stays_text(opened, url):
    with page(opened, at(url, "hostile")) as seen:
        seen.locator("#policy figcaption", has_text="onerror").wait_for()
        assert seen.locator("h1").inner_text() == HOSTILE
        seen.get_by_text("readings.jsonl line 41").first.wait_for()
        assert seen.locator("img[src=x]").count() == 0


def test_a_server_that_has_stopped_is_told_of(opened, runs):
    with served(runs) as (address, server), page(opened, address) as seen:
        seen.locator("#diagnosis").wait_for()
        server.terminate()
        server.wait()
        seen.locator("#banner", has_text="The server has stopped").wait_for()
        # That the address no longer answers is what the browser's console says too.
        seen.said[:] = [each for each in seen.said if "ERR_CONNECTION" not in each]
        seen.unwatch()


def test_another_origin_learns_nothing(opened, url):
    """A page of another port of this machine, in the same browser, with the same cookies."""
    import http.server
    import threading

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<link rel=icon href=data:,><p>elsewhere</p>")

        def log_message(self, *words):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = opened.new_context()
    try:
        seen = context.new_page()
        seen.goto(url)
        seen.locator("#diagnosis").wait_for()
        api = url.partition("?")[0] + "api/runs"
        assert seen.evaluate("async (api) => (await fetch(api)).status", api) == 200
        seen.goto(f"http://127.0.0.1:{server.server_port}/")
        asked = "(api) => fetch(api, {credentials: 'include'}).then((answer) => answer.status, () => 'refused')"
        assert seen.evaluate(asked, api) == "refused"
    finally:
        context.close()
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_file_for_a_colleague_opens_offline(opened, runs, width):
    file = runs.parent / "report.html"
    with page(opened, file.as_uri(), width=width, offline=True) as seen:
        drawn(seen, "learning")
        assert "advantages have the wrong sign" in seen.locator("#ADV003 h3").inner_text()
        assert seen.evaluate("document.scrollingElement.scrollWidth") <= width
        assert seen.evaluate("performance.getEntriesByType('resource').length") == 0
