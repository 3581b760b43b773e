"""The page of a timing: complete, self-contained, and deaf to what names try to tell it."""

import json
import re
from dataclasses import replace

import pytest

from rldebug.evidence.timing import Environment, Held, Host, Kept, Measured, Network, Slice, Spot, Sync, Timing, Window
from rldebug.finding import Report, Where
from rldebug.render.profile_chart import flame, iteration, over_time
from rldebug.render.profile_page import page, write_profile_page
from tests.render.test_profile import ADVISED, CLEAN, MIB, NOTHING, ON_GPU, PPO, slow, spot

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def html():
    return page(PPO, ADVISED)


def data(html):
    return json.loads(re.search(r'<script type="application/json" id="timing">(.*?)</script>', html, re.DOTALL)[1])


def part_of(html, name):
    return re.search(rf'<section id="{name}">.*?</section>', html, re.DOTALL)[0]


def words(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def seconds_below(node):
    return sum(each[1] for each in node[3])


def nodes(node):
    yield node
    for each in node[3]:
        yield from nodes(each)


def test_what_would_make_it_faster_comes_first(html):
    assert html.index('id="faster"') < html.index('id="diagnosis"') < html.index('id="parts"')
    said = words(part_of(html, "faster"))
    assert said.index("×1.43 PRF900") < said.index("×1.20 PRF904") < said.index("×1.72 all of them together")
    assert "ROL001" not in said
    assert "the whole run ×1.43 as fast" in part_of(html, "diagnosis")


def test_nothing_worth_doing_is_said():
    assert "Nothing here is worth 5 %." in part_of(page(PPO, CLEAN), "faster")


def test_parts_have_bars_that_add_up_with_costs_and_lines(html):
    said = part_of(html, "parts")
    shares = re.findall(r'class="number">([\d.]+) %', said)
    assert sum(map(float, shares)) == pytest.approx(100.0, abs=1e-9)
    assert re.search(r"simulator 23\.5 % 9\.10 s 222 µs/step train\.py:88 collect", words(said))
    assert "&lt;lambda&gt;" in said  # of "other"


def test_head_has_the_pace_and_the_machine(html):
    said = words(html[html.index("<header>") : html.index("</header>")])
    for each in ("38.8 s", "40 960, 1 057 per second", "6 400, 165 per second", "≈ 409 600", "8 cores", "no GPU"):
        assert each in said


def test_stacks_are_merged_and_their_seconds_kept(html):
    drawn = data(html)["flame"]
    tree = drawn["tree"]
    assert tree[1] == pytest.approx(PPO.seconds, rel=1e-4)
    for each in nodes(tree):
        assert seconds_below(each) <= each[1] * 1.0001
    assert len(tree[3]) == 1  # one program
    found = [drawn["frames"][each[0]] for each in nodes(tree)]
    assert ["collect", "train.py:88", True] in found
    assert ["forward", "linear.py:100", False] in found


def test_a_frame_has_the_colour_of_its_part_unless_it_is_of_several(html):
    drawn = data(html)
    names = [each[0] for each in drawn["parts"]]
    by_name = {drawn["flame"]["frames"][each[0]][0]: each for each in nodes(drawn["flame"]["tree"])}
    assert names[by_name["advantages"][2]] == "advantages"
    assert by_name["main"][2] == -1
    assert by_name["collect"][2] == -1


def test_other_threads_are_not_in_the_stacks():
    aside = Slice(50.0, 9, (spot("worker", 3),), thread=1, part="waiting")
    made = replace(PPO, slices=(*PPO.slices, aside))
    assert flame(made)["tree"][1] == pytest.approx(PPO.seconds, rel=1e-4)
    assert "1 other thread is left out" in page(made, CLEAN)


def test_an_iteration_has_its_moments_lines_and_events(html):
    drawn = data(html)["iteration"]
    names = [each[0] for each in data(html)["parts"]]
    at, took, place = drawn["moments"][0]
    assert (at, took > 0) == (0.0, True)
    part, line, _ = drawn["places"][place]
    assert names[part] == PPO.slices[PPO.moments[0][2]].part
    assert line.startswith("train.py:")
    assert {each[1] for each in drawn["events"]} >= {"step", "backward", "update"}
    assert sum(each[1] for each in drawn["moments"]) == pytest.approx(drawn["seconds"], rel=0.01)


def test_moments_of_one_place_in_a_row_are_one():
    made = replace(PPO, moments=((5.0, 0.1, 0), (5.1, 0.1, 0), (5.2, 0.1, 1)), happened=((5.15, "step"),))
    drawn = iteration(made)
    assert drawn["moments"] == [[0.0, pytest.approx(0.2), 0], [pytest.approx(0.2), 0.1, 1]]
    assert drawn["events"] == [[pytest.approx(0.15), "step"]]


def test_samples_that_come_at_random_leave_no_gaps():
    made = replace(PPO, moments=((0.0, 0.002, 0), (0.001, 0.002, 1), (0.008, 0.002, 2), (0.5, 0.002, 3)), happened=())
    drawn = iteration(made)["moments"]
    assert [each[1] for each in drawn] == pytest.approx([0.001, 0.007, 0.002, 0.002])  # nobody knows what was in 0.5 s


def test_a_long_iteration_is_cut_and_says_so():
    many = tuple((i * 0.001, 0.001, i % 2) for i in range(9_000))
    made = replace(PPO, moments=many, happened=())
    assert len(iteration(made)["moments"]) == 6_000
    assert "Only its first 6 s are drawn" in page(made, CLEAN)


def test_curves_over_the_run(html):
    drawn = {each["title"]: each for each in data(html)["charts"]}
    assert list(drawn) == ["env steps/s", "updates/s", "host memory", "cores in use", "pages from disk", "parts"]
    assert drawn["env steps/s"]["series"][0]["y"][0] == 1400
    assert drawn["parts"]["stacked"]
    assert sum(each["y"][20] for each in drawn["parts"]["series"]) == pytest.approx(100, abs=0.01)
    assert {each["name"] for each in drawn["parts"]["series"]} == {"simulator", "acting", "backward"}
    assert [each["name"] for each in drawn["cores in use"]["series"]] == ["this process", "its workers"]
    assert html.count("data-curves=") == len(drawn)


def test_a_curve_that_was_never_read_is_left_out():
    bare = tuple(Window(float(i), 1.0, env_steps=10) for i in range(3))
    assert [each["title"] for each in over_time(replace(PPO, windows=bare))] == ["env steps/s"]


def test_long_runs_are_thinned():
    many = tuple(Window(float(i), 1.0, env_steps=10) for i in range(5_000))
    assert len(over_time(replace(PPO, windows=many))[0]["x"]) <= 400


def test_gpu_charts_and_waits_where_there_are_readings(html):
    assert "No GPU." in part_of(html, "gpu")
    made = page(ON_GPU, ADVISED)
    drawn = {each["title"]: each for each in data(made)["charts"]}
    assert [each["name"] for each in drawn["GPU memory"]["series"]] == ["in tensors", "reserved", "in all"]
    assert drawn["utilisation"]["series"][0]["y"][0] == 34
    assert None in drawn["temperature"]["series"][0]["y"]  # not every look had one
    said = words(part_of(made, "gpu"))
    assert "NVIDIA H200" in said
    assert "train.py:146 loss line_146 = work(146) .item 8" in said
    assert "412 kernels per update" in said
    mute = page(replace(PPO, host=Host(gpu="NVIDIA H200")), CLEAN)
    assert "nothing could be read of it" in part_of(mute, "gpu")


def test_memory_by_network_and_by_line(html):
    said = words(part_of(html, "networks"))
    assert "agent.actor float32 on cpu 4 610 18 KiB 17.8 KiB 35.5 KiB Adam 71.3 KiB" in said
    wide = replace(PPO, networks=(Network("a", ((256, 4),), dtype="float64"),))
    assert "1 024 8 KiB 0 B" in words(part_of(page(wide, CLEAN), "networks"))
    assert "train.py:140 loss line_140 = work(140) 12 3 MiB" in words(part_of(html, "kept"))


def test_things_that_grow(html):
    said = part_of(html, "held")
    assert "episode_infos train.py:92 0 → 3 600 0 B → 4 MiB" in words(said)
    assert "12 hold a graph" in said
    assert "<polyline" in said
    level = replace(PPO, held=(Held("buffer", items=(5, 5), bytes=(MIB, MIB)),))
    assert "Nothing of yours grew." in part_of(page(level, CLEAN), "held")


def test_the_yardstick_stands_beside_what_the_run_took(html):
    said = words(part_of(html, "yardstick"))
    assert "rldebug.parts.returns.gae, 512 × 4 320 ms 310 ms 13 µs" in said
    assert "an update in these shapes 1.14 ms – 1.2 ms 1 thread 1.2 ms · 4 threads 1.9 ms" in said
    own = replace(PPO, yardstick={"vector": Measured("vector", "a vector", 1e-5)})
    assert "a vector – – 10 µs" in words(part_of(page(own, CLEAN), "yardstick"))


def test_each_part_that_is_empty_says_why():
    html = page(NOTHING, CLEAN)
    for name in ("parts", "one-iteration", "stacks", "over-time", "gpu", "networks", "kept", "held", "yardstick"):
        assert 'class="soft empty"' in part_of(html, name), name
    assert data(html)["flame"] is None
    assert data(html)["iteration"] is None
    assert data(html)["charts"] == []
    assert "Nothing can be said without samples." in html


def test_slices_without_a_stack_do_no_harm():
    odd = Timing(1.0, slices=(Slice(1.0, 1, ()),), moments=((0.0, 0.5, 0), (0.5, 0.5, 99)), updates=1)
    html = page(odd, CLEAN)
    assert data(html)["flame"] is None
    assert len(data(html)["iteration"]["moments"]) == 1  # the other points nowhere


def test_a_recursion_is_no_trouble():
    deep = tuple(spot("dive", 10) for _ in range(5_000))
    html = page(Timing(1.0, slices=(Slice(1.0, 1, deep, part="loss"),)), CLEAN)
    assert sum(1 for _ in nodes(data(html)["flame"]["tree"])) == 301


def test_nothing_is_fetched():
    html = page(ON_GPU, Report("profile", (slow("PRF000"),)))  # the page of a rule that exists may cite addresses
    assert not re.search(r"""(?:src|href)=(?!"#)""", html)
    bare = html.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert "http://" not in bare
    assert "https://" not in bare
    assert "@import" not in bare
    assert "url(" not in bare
    assert "default-src 'none'" in html


def test_light_and_dark(html):
    assert 'content="light dark"' in html
    assert html.count("prefers-color-scheme: dark") >= 2


def test_names_are_only_text():
    at = Spot(HOSTILE, HOSTILE, 3, "user")
    made = Timing(
        seconds=1.0,
        slices=(Slice(1.0, 5, (at,), part=HOSTILE, called=HOSTILE), Slice(0.5, 5, (at,), called=HOSTILE)),
        windows=tuple(Window(float(i), 1.0, 5, 5, parts={HOSTILE: 1.0}, utilisation=0.5) for i in range(3)),
        environments=(Environment(HOSTILE, render_mode=HOSTILE, created=(HOSTILE, 1)),),
        networks=(Network(HOSTILE, ((2, 2),), HOSTILE, HOSTILE, HOSTILE),),
        host=Host(gpu=HOSTILE),
        syncs=(Sync(at, 1, 1.0, HOSTILE),),
        held=(Held(HOSTILE, HOSTILE, 1, (0.0, 1.0), (0, 5), (0, 5)),),
        kept=(Kept(at, 5, 1),),
        moments=((0.0, 1.0, 0),),
        happened=((0.0, HOSTILE),),
        yardstick={HOSTILE: Measured(HOSTILE, HOSTILE, 1.0, detail={HOSTILE: 1.0})},
        problems=(HOSTILE,),
    )
    found = slow(message=HOSTILE, seen=HOSTILE, where=Where(file=HOSTILE, line=1))
    html = page(made, Report("profile", (found,), title=HOSTILE, problems=(HOSTILE,)))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 2
    assert data(html)["parts"][-1][0] == HOSTILE
    assert data(html)["flame"]["frames"][1][0] == HOSTILE


def test_numbers_that_are_not_finite_are_left_out():
    odd = tuple(Window(float(i), 1.0, 5, utilisation=float("nan")) for i in range(3))
    drawn = {each["title"]: each for each in data(page(replace(PPO, windows=odd), CLEAN))["charts"]}
    assert "utilisation" not in drawn


def test_written_to_a_file(tmp_path):
    write_profile_page(PPO, ADVISED, tmp_path / "profile.html")
    text = (tmp_path / "profile.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert len(text) < 300_000
