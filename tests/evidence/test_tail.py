"""A run folder read on as it grows: nothing that matters is lost, and what is held is bounded."""

from __future__ import annotations

import json
import math
import os
import random
import shutil

import numpy as np
import pytest

from rldebug.evidence import lines as lines_module
from rldebug.evidence import tail as tail_module
from rldebug.evidence.run import FORMAT, Reading, encode, read_run
from rldebug.evidence.tail import Tail


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": FORMAT, "name": "mine"}), encoding="utf-8")
    return folder


def line(i: int, **numbers: float) -> bytes:
    numbers = numbers or {"kl": math.sin(i), "loss": i / 7}
    return encode(Reading(i, 8 * i, i / 10, numbers)).encode() + b"\n"


def write(folder, lines, mode="wb"):
    with (folder / "readings.jsonl").open(mode) as file:
        file.write(b"".join(lines))


def read_all(tail: Tail) -> Tail:
    for _ in range(10_000):
        tail.read()
        if tail.done:
            return tail
    raise AssertionError("it never caught up")


def same(a, b) -> bool:
    """Are two series the same, bit by bit?"""
    pairs = (a.update, b.update), (a.env_step, b.env_step), (a.value, b.value)
    return a.name == b.name and all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


def same_run(a, b) -> bool:
    return list(a.series) == list(b.series) and all(same(a[name], b[name]) for name in a.series)


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_short_run_is_read_whole(folder):
    write(folder, [line(i) for i in range(300)])
    tail, whole = read_all(Tail(folder)), read_run(folder)
    run = tail.run()
    assert same_run(run, whole)
    assert list(run.readings) == list(whole.readings)
    assert (run.meta, run.path, run.problems) == (whole.meta, folder, ())
    assert (tail.lines, tail.share, tail.done) == (300, 1.0, True)


@pytest.mark.parametrize("seed", range(4))
def test_no_spike_is_lost_and_the_order_holds(folder, seed):
    dice = random.Random(seed)
    places = [0, 9_999, *dice.sample(range(1, 9_999), 6)]
    spikes = {place: (1 if i % 2 else -1) * (1000.0 + i) for i, place in enumerate(places)}
    level, walk = 0.0, []
    for i in range(10_000):
        level += dice.gauss(0, 1)
        walk.append(line(i, kl=spikes.get(i, level)))
    write(folder, walk)
    series = read_all(Tail(folder, points=64)).run()["kl"]
    assert len(series) <= 64
    found = dict(zip(series.update.tolist(), series.value.tolist(), strict=True))
    assert min(spikes.values()) in found.values()
    assert max(spikes.values()) in found.values()
    assert all(found[place] == spikes[place] for place in (0, 9_999))
    assert all(found[place] == spikes[place] for place in alone(places, 10_000 // 16))
    assert (np.diff(series.update) > 0).all()
    assert (series.env_step == 8 * series.update).all()


def alone(places, bucket):
    """Those that no other one can push out: none is as near as a bucket is long."""
    return [each for each in places if all(abs(each - other) > 2 * bucket for other in places if other != each)]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 4_321, 9_999])
def test_one_reading_that_is_no_number_is_kept(folder, odd, place):
    write(folder, [line(i, kl=odd if i == place else math.sin(i)) for i in range(10_000)])
    series = read_all(Tail(folder, points=64)).run()["kl"]
    assert series.update[~np.isfinite(series.value)].tolist() == [place]
    assert series.min() == pytest.approx(-1, abs=1e-4)
    assert series.max() == pytest.approx(1, abs=1e-4)


def test_readings_that_are_never_numbers_are_bounded_too(folder):
    write(folder, [line(i, kl=math.nan) for i in range(10_000)])
    series = read_all(Tail(folder, points=64)).run()["kl"]
    assert 0 < len(series) <= 64
    assert (series.update[0], series.update[-1]) == (0, 9_999)
    assert np.isnan(series.value).all()


def test_series_of_different_lines_keep_their_order(folder):
    """Lines of several sets of names are turned into columns by set; the order is that of the file."""
    write(folder, [line(i, **({"kl": i} if i % 3 else {"loss": i, "kl": i})) for i in range(3000)])
    run = read_all(Tail(folder, points=5000)).run()
    assert run["kl"].value.tolist() == list(range(3000))
    assert run["loss"].value.tolist() == list(range(0, 3000, 3))


def test_lines_kept_whole_are_spread_and_rare_facts_are_all_there(folder):
    def reading(i):
        facts = {"calls": {"update": ["a.py", i]}} if i % 1000 == 500 else {"zeroing": {"adam": True}}
        tables = {"parameters": {"w": [float(i)]}} if i % 100 == 0 else {}
        return encode(Reading(i, i, float(i), {"kl": 1.0}, facts, tables)).encode() + b"\n"

    write(folder, [reading(i) for i in range(10_000)])
    run = read_all(Tail(folder, lines=200)).run()
    updates = [each.update for each in run.readings]
    assert len(updates) <= 201
    assert updates == sorted(updates)
    assert (updates[0], updates[-1]) == (0, 9_999)
    assert max(np.diff(updates)) < 300
    assert [place["update"][1] for _, place in run.facts("calls")] == list(range(500, 10_000, 1000))
    assert len(run.table("parameters")) >= 40
    assert (run.updates, run.env_steps) == (10_000, 9_999)


# ── growth ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(3))
def test_however_it_grows_the_same_readings_remain(folder, seed):
    dice = random.Random(seed)
    whole = b"".join(line(i, **{f"n{j}": dice.gauss(0, 1) for j in range(dice.randint(0, 3))}) for i in range(3000))
    write(folder, [whole])
    at_once = read_all(Tail(folder, points=64, lines=50)).run()
    write(folder, [])
    growing, at = Tail(folder, points=64, lines=50), 0
    while at < len(whole):
        step = dice.choice([1, 30, 500, 9000])
        write(folder, [whole[at : at + step]], "ab")
        growing.read()
        if dice.random() < 0.2:
            growing.run()
        at += step
    assert same_run(growing.run(), at_once)
    assert growing.run().readings == at_once.readings


def test_a_line_without_its_end_waits_for_it(folder):
    write(folder, [line(0), line(1)[:20]])
    tail = Tail(folder)
    assert tail.read()
    assert (tail.lines, tail.done) == (1, True)
    assert not tail.read()
    write(folder, [line(1)[20:]], "ab")
    assert tail.read()
    assert [each.update for each in tail.run().readings] == [0, 1]
    assert tail.run().problems == ()


def test_only_what_is_new_is_news(folder):
    tail = Tail(folder)
    assert tail.read()  # run.json
    assert tail.run().readings == ()
    assert tail.run().problems == ()  # it has not begun
    assert not tail.read()
    write(folder, [line(0)])
    assert tail.read()
    assert not tail.read()
    (folder / "run.json").write_text(json.dumps({"name": "renamed"}), encoding="utf-8")
    assert tail.read()
    assert tail.run().meta == {"name": "renamed"}


@pytest.mark.parametrize("length", [3, 10, 40])
def test_a_file_that_replaced_another_is_read_anew(folder, length):
    write(folder, [line(i) for i in range(10)])
    tail = read_all(Tail(folder))
    (folder / "readings.jsonl").unlink()
    write(folder, [line(i, other=i) for i in range(length)])
    assert tail.read()
    assert list(tail.run().series) == ["other"]
    assert len(tail.run()["other"]) == tail.lines == length


def test_a_file_written_over_is_read_anew(folder):
    """The same inode, no shorter, and the same beginning."""
    write(folder, [line(i) for i in range(100)])
    tail = read_all(Tail(folder))
    write(folder, [*[line(i) for i in range(50)], *[line(i, other=i) for i in range(90)]])
    tail.read()
    assert (len(tail.run()["kl"]), len(tail.run()["other"])) == (50, 90)


def test_a_run_json_half_written_costs_nothing(folder):
    tail = read_all(Tail(folder))
    (folder / "run.json").write_text('{"name": "mi', encoding="utf-8")
    assert tail.read()
    assert tail.run().meta["name"] == "mine"
    assert tail.run().problems[0].startswith("run.json cannot be read (")
    (folder / "run.json").write_text('{"name": "new"}', encoding="utf-8")
    tail.read()
    assert (tail.run().meta, tail.run().problems) == ({"name": "new"}, ())


def test_a_folder_taken_away_is_named_and_what_was_read_stays(folder):
    write(folder, [line(i) for i in range(10)])
    tail = read_all(Tail(folder))
    shutil.rmtree(folder)
    assert tail.read()
    assert tail.done
    assert f"{folder} is not there" in tail.run().problems
    assert len(tail.run()["kl"]) == 10


# ── a big file ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def big(folder, monkeypatch):
    """A file of which a first read sees little."""
    monkeypatch.setattr(tail_module, "_BIG", 10_000)
    monkeypatch.setattr(tail_module, "PIECE", 4096)
    write(folder, [line(i) for i in range(20_000)])
    return folder


def test_a_glimpse_shows_the_whole_of_a_big_file(big):
    tail = Tail(big)
    assert tail.read(0.0)
    assert not tail.done
    assert tail.lines < 100
    run = tail.run()
    assert (np.diff(run["kl"].update) > 0).all()
    assert run["kl"].update[0] == 0
    assert run["kl"].update[-1] == run.readings[-1].update == 19_999
    assert max(np.diff(run["kl"].update)) < 200
    assert (run["kl"].value == [pytest.approx(math.sin(i)) for i in run["kl"].update]).all()
    assert run.updates == 20_000


def test_what_is_read_through_replaces_the_glimpse(big):
    tail, shares = Tail(big), []
    while not tail.done:
        tail.read(0.0)
        shares.append(tail.share)
        assert (np.diff(tail.run()["kl"].update) > 0).all()
        assert tail.run()["kl"].update[-1] == 19_999
    assert shares == sorted(shares)
    assert (len(shares) > 10, shares[-1]) == (True, 1.0)
    write(big, [line(i) for i in range(20_000)])
    assert same_run(tail.run(), read_all(Tail(big)).run())


def test_a_big_file_without_lines(folder, monkeypatch):
    monkeypatch.setattr(tail_module, "_BIG", 10_000)
    for junk in (b"\0" * 500_000, b"x" * 500_000 + b"\n", b"\n" * 20_000, b"[]\n" * 20_000):
        write(folder, [junk])
        assert read_all(Tail(folder)).run().readings == ()


# ── hostile folders ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        (b"hello", "Expecting value"),
        (b"null", "expected a JSON object"),
        (b"[1]", "expected a JSON object"),
        (b"1,2", "Extra data"),
        (b"{}", "'update' is missing"),
        (line(2).replace(b'"update":2', b'"update":"two"'), "'two' is not a count"),
        (line(2).replace(b'"update":2', b'"update":true'), "True is not a count"),
        (line(2).replace(b'"update":2', b'"update":-2'), "-2 is not a count"),
        (line(2).replace(b'"update":2', b'"update":99999999999999999999'), "is not a count"),
        (b'{"update":2,"env_step":2,"seconds":2.0,"numbers":{"kl":null}}', "TypeError"),
        (b'{"update":2,"env_step":2,"seconds":2.0,"numbers":{"kl":"x"}}', "could not convert"),
        (b'{"update":2,"env_step":2,"seconds":2.0,"numbers":[1,2]}', "expected 'numbers' to be a JSON object"),
        (b'{"update":2,"env_step":2,"seconds":2.0,"numbers":{},"facts":3}', "expected 'facts' to be a JSON object"),
        (b'{"update":2,"env_step":2,"seconds":{},"numbers":{}}', "TypeError"),
        (b"\xff\xfe" * 20, ""),
        (b"[" * 200_000, "RecursionError"),
    ],
)
def test_a_wrong_line_is_named_and_the_rest_is_kept(folder, edited, told):
    write(folder, [line(0), line(1), edited.strip() + b"\n", b"\n  \n", line(3), line(4)])
    run = read_all(Tail(folder)).run()
    (problem,) = run.problems
    assert problem.startswith("readings.jsonl line 3 was left out: ")
    assert told in problem
    assert len(problem) < 300
    assert run["kl"].update.tolist() == [0, 1, 3, 4]
    assert [each.update for each in run.readings] == [0, 1, 3, 4]


def test_unusual_lines_that_are_right_are_kept(folder):
    write(folder, [b"\xef\xbb\xbf" + line(0), line(1).replace(b"0.1", b"1", 1), line(2)[:-1] + b" \r\n"])
    run = read_all(Tail(folder)).run()
    assert run.problems == ()
    assert run["kl"].update.tolist() == [0, 1, 2]


def test_many_wrong_lines_are_counted(folder):
    write(folder, [b"x\n" * 5000, line(1)])
    run = read_all(Tail(folder)).run()
    assert len(run.problems) == 21
    assert run.problems[-1] == "4,980 more such lines were left out"
    assert run["kl"].update.tolist() == [1]


def test_a_line_too_long_is_never_held(folder, monkeypatch):
    monkeypatch.setattr(lines_module, "LONGEST", 1000)
    monkeypatch.setattr(tail_module, "PIECE", 300)
    write(folder, [line(0), b"x" * 50_000 + b"\n", line(2), b"y" * 3000])
    tail, held = Tail(folder), 0
    for _ in range(1000):
        tail.read(0.0)
        held = max(held, len(tail._splitter.rest))
    assert held <= 1300
    assert tail.done
    assert tail.run()["kl"].update.tolist() == [0, 2]
    assert tail.run().problems[0].startswith("readings.jsonl line 2 was left out: it is longer than ")
    write(folder, [b"\n", line(5)], "ab")
    assert read_all(tail).run()["kl"].update.tolist() == [0, 2, 5]
    assert tail.run().problems[1].startswith("readings.jsonl line 4 was left out: it is longer than ")


def test_names_without_end_are_bounded(folder):
    write(folder, [line(i, **{f"n{i}": 1.0, "kl": float(i)}) for i in range(3000)])
    tail = read_all(Tail(folder, lines=100))
    run = tail.run()
    assert len(run.series) == 2000
    assert run["kl"].update[-1] == 2999
    assert run.problems == ("only 2,000 names of at most 300 characters are read; there are others",)
    write(folder, [line(0, **{"n" * 301: 1.0, "kl": 1.0})])
    assert list(read_all(Tail(folder)).run().series) == ["kl"]


def test_what_is_kept_is_bounded(folder):
    """Kinds of lines without end, each of them heavy: what is held whole stays within its bytes."""
    facts = [{f"fact{i % 200}": "x" * 30_000} for i in range(600)]
    write(folder, [encode(Reading(i, i, 1.0, {"kl": 1.0}, each)).encode() + b"\n" for i, each in enumerate(facts)])
    run = read_all(Tail(folder)).run()
    assert 10 < len(run.readings) < 140
    assert run.readings[-1].update == 599
    assert len(run["kl"]) == 600


@pytest.mark.parametrize("name", ["readings.jsonl", "run.json"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "dangling"])
def test_what_is_no_plain_file_is_not_opened(folder, tmp_path, name, kind):
    secret = tmp_path / "secret"
    secret.write_bytes(line(7) if name == "readings.jsonl" else b'{"name": "secret"}')
    write(folder, [line(1)])
    (folder / name).unlink()
    match kind:
        case "link":
            (folder / name).symlink_to(secret)
        case "dangling":
            (folder / name).symlink_to(tmp_path / "nowhere")
        case "pipe":
            os.mkfifo(folder / name)
        case "folder":
            (folder / name).mkdir()
    tail = Tail(folder)
    tail.read()
    run = tail.run()
    assert "secret" not in run.meta.values()
    assert 7 not in [each.update for each in run.readings]
    (problem,) = run.problems
    assert problem.startswith(f"{name} cannot be read")
    assert "expected a plain file, found a" in problem


def test_there_never_was_a_folder(tmp_path):
    tail = Tail(tmp_path / "nowhere")
    tail.read()
    assert tail.run().series == {}
    assert f"{tmp_path / 'nowhere'} is not there" in tail.run().problems


@pytest.mark.parametrize("meta", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b" " * 5_000_000, b'{"format": 99}'])
def test_a_junk_run_json_is_named(folder, meta):
    (folder / "run.json").write_bytes(meta)
    write(folder, [line(1)])
    run = read_all(Tail(folder)).run()
    assert len(run.problems) == 1
    assert len(run.readings) == 1
