"""Run: series over time, the line format, and run folders in every state a crash or a hand can leave them in."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.evidence.run import FORMAT, MOST_LINES, Reading, Run, RunError, Series, decode, encode, read_run
from rldebug.finding import Where

quick = settings(deadline=None, max_examples=60)
anything = st.floats(width=64)
ordinary = st.floats(-1e6, 1e6)


def series(values, updates=None):
    values = np.array(values, dtype=np.float64)
    updates = np.arange(len(values)) if updates is None else np.array(updates)
    return Series("x/y", updates.astype(np.int64), updates.astype(np.int64) * 64, values)


# ── series against numpy ────────────────────────────────────────────────────────────────────────────────────────────


@quick
@given(st.lists(anything, max_size=30))
def test_statistics_are_of_the_finite_readings(values):
    finite = [each for each in values if math.isfinite(each)]
    whole = series(values)
    assert len(whole) == len(values)
    assert whole.finite.value.tolist() == finite
    assert [int(each) for each in whole.finite.update] == [i for i, each in enumerate(values) if math.isfinite(each)]
    if not finite:
        for each in (whole.median(), whole.min(), whole.max(), whole.quantile(0.3), whole.mean()):
            assert math.isnan(each)
        return
    assert abs(max(finite, key=abs)) > 1e300 or whole.median() == np.median(finite)  # where the sum of two overflows
    assert not math.isnan(whole.median())
    assert whole.min() == min(finite)
    assert whole.max() == max(finite)


@quick
@given(st.lists(ordinary, min_size=1, max_size=30), st.floats(0, 1))
def test_mean_and_quantile(values, q):
    holey = series([math.nan, *values, math.inf])
    assert holey.mean() == pytest.approx(np.mean(values))
    assert holey.quantile(q) == pytest.approx(np.quantile(values, q))


@quick
@given(st.lists(ordinary, min_size=1, max_size=40), st.floats(0.5, 50))
def test_the_moving_average_is_a_weighted_mean_of_all_so_far(values, half_life):
    """Slowly: weight 2^(−age / half-life), divided by the sum of the weights."""
    smooth = series([*values, math.nan]).ema(half_life)
    assert len(smooth) == len(values)
    for i in range(len(values)):
        weights = 0.5 ** (np.arange(i, -1, -1) / half_life)
        assert smooth.value[i] == pytest.approx(np.average(values[: i + 1], weights=weights), rel=1e-6, abs=1e-6)


def test_the_moving_average_of_nothing():
    assert len(series([]).ema()) == 0
    assert len(series([math.nan]).ema()) == 0
    assert series([5.0, 5.0, 5.0]).ema().value.tolist() == pytest.approx([5.0, 5.0, 5.0])


def test_parts_are_shares_of_the_updates_not_of_the_readings():
    """A thinned run has many readings at its start and few at its end."""
    thinned = series(range(6), updates=[0, 1, 2, 3, 50, 100])
    assert thinned.head(0.5).value.tolist() == [0, 1, 2, 3, 4]
    assert thinned.tail(0.5).value.tolist() == [4, 5]
    assert thinned.tail(0.1).value.tolist() == [5]
    assert thinned.between(0.02, 0.03).value.tolist() == [2, 3]
    assert thinned.between(0, 1).value.tolist() == list(range(6))
    late = series([1.0, 2.0, 3.0], updates=[1000, 1005, 1010])
    assert late.head(0.5).value.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("length", [0, 1])
def test_parts_of_almost_nothing(length):
    short = series([7.0] * length, updates=[123] * length)
    assert len(short.head(0.1)) == len(short.tail(0.1)) == length
    assert len(short.between(0.2, 0.8)) == 0
    assert short.update.dtype == np.int64


@quick
@given(st.lists(ordinary, min_size=1, max_size=30), st.floats(0, 1))
def test_head_and_tail_have_the_ends(values, share):
    whole = series(values)
    assert whole.head(share).first == whole.first
    assert whole.tail(share).last == whole.last


def test_first_last_where_and_at():
    whole = series([3.0, 1.0, 2.0], updates=[10, 20, 30])
    assert (whole.first, whole.last) == (3.0, 2.0)
    assert whole.where() == Where(update=30, env_step=30 * 64)
    assert whole.where(0) == Where(update=10, env_step=640)
    assert type(whole.where(0).update) is int
    assert whole.at(whole.value < 3) == 1
    assert whole.at(whole.value < 0) is None
    assert whole.keep(whole.value > 1.5).value.tolist() == [3.0, 2.0]
    assert whole.share(whole.value > 1.5) == pytest.approx(2 / 3)
    assert math.isnan(whole.share(np.zeros(0, dtype=bool)))


# ── runs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_from_plain_lists():
    run = Run.from_series(
        {"a/b": [1.0, None, 3.0], "c/d": [5]}, facts=[{"env": 1}, {}, {}, {"env": 2}], every=10, meta={"gamma": 0.9}
    )
    assert run["a/b"].value.tolist() == [1.0, 3.0]
    assert run["a/b"].update.tolist() == [0, 20]
    assert run["a/b"].env_step.tolist() == [0, 1280]
    assert run["c/d"].value.tolist() == [5.0]
    assert [fact for _, fact in run.facts("env")] == [1, 2]
    assert (run.updates, run.env_steps, run.gamma) == (31, 1920, 0.9)
    assert len(Run.from_series({}).readings) == 1


def test_what_was_never_recorded_is_an_empty_series():
    run = Run.from_series({"a/b": [1.0]})
    assert "a/b" in run
    assert "a/c" not in run
    assert len(run["a/c"]) == 0
    assert run["a/c"].name == "a/c"
    assert math.isnan(run["a/c"].median())
    assert run.facts("env") == []
    assert run.table("layers") == []


def test_each_gives_one_series_per_optimizer_and_no_namesakes():
    run = Run.from_series(
        {"grad/norm@policy": [1.0], "grad/norm@critic": [2.0], "grad/norm_max": [9.0], "grad/rms": [8.0]}
    )
    assert {each.name for each in run.each("grad/norm")} == {"grad/norm@policy", "grad/norm@critic"}
    assert "grad/norm" in run
    assert len(run["grad/norm"]) == 0
    assert [each.name for each in Run.from_series({"grad/norm": [1.0]}).each("grad/norm")] == ["grad/norm"]
    assert run.each("grad/nor") == []


def test_where_the_loop_calls_us():
    run = Run.from_series(
        {}, facts=[{}, {"calls": {"update": ["train.py", 88]}}, {"calls": {"update": ["train.py", 99]}}]
    )
    assert run.call("update") == Where("train.py", 88)
    assert run.call("rollout") == Where()
    assert Run.of([]).call("update") == Where()


@pytest.mark.parametrize("calls", [None, [], "x", 3, {"update": None}, {"update": "train.py:88"}, {"update": ["a"]}])
def test_a_place_edited_by_hand_is_no_place(calls):
    assert Run.from_series({}, facts={"calls": calls}).call("update") == Where()


@pytest.mark.parametrize(
    ("gamma", "kept"), [(0.99, 0.99), (1, 1), ("0.99", None), (None, None), (True, None), ([], None)]
)
def test_a_discount_is_a_number_or_unknown(gamma, kept):
    assert Run.of([], {"gamma": gamma}).gamma == kept


def test_the_last_readings_are_a_run_of_their_own():
    run = Run.from_series({"a/b": [1.0, 2.0, 3.0]}, meta={"gamma": 0.5})
    assert run.last()["a/b"].value.tolist() == [3.0]
    assert run.last(2)["a/b"].value.tolist() == [2.0, 3.0]
    assert run.last(99)["a/b"].value.tolist() == [1.0, 2.0, 3.0]
    assert run.last(0).readings == ()
    assert run.last().gamma == 0.5
    assert len(Run.of([]).last().readings) == 0


def test_series_are_added_to_a_copy():
    run = Run.from_series({"a/b": [1.0]})
    more = run.with_series([series([1.0, 2.0])])
    assert "x/y" in more
    assert "x/y" not in run
    assert more.readings is run.readings


def test_an_empty_run_has_no_length():
    run = Run.of([])
    assert (run.updates, run.env_steps, run.gamma) == (0, 0, None)


# ── one line ────────────────────────────────────────────────────────────────────────────────────────────────────────

# Names may hold anything a user calls a metric or a layer.
names = st.text(max_size=8) | st.sampled_from(
    ['say "hi"', "50%", "%d%%s", "a\nb", "\u2028", "nan", "inf", "∇θ", "\\", "{x}", ""]
)
tables = st.dictionaries(names, st.lists(anything, max_size=3), max_size=3)
readings = st.builds(
    Reading,
    update=st.integers(0, 2**63 - 1),
    env_step=st.integers(0, 2**63 - 1),
    seconds=st.floats(0, 1e9),
    numbers=st.dictionaries(names, anything, max_size=6),
    facts=st.dictionaries(
        names, st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(names, max_size=2)
    ),
    tables=st.dictionaries(names, tables, max_size=2),
    histograms=tables,
    traces=tables,
)


def same(a: float, b: float, digits: int) -> bool:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return a == b or (math.isnan(a) and math.isnan(b))
    return b == float(f"{a:.{digits}g}") or b == float(f"{a:.9g}")


@quick
@given(readings)
def test_a_reading_survives_the_way_through_its_line(reading):
    line = encode(reading)
    assert "\n" not in line
    line.encode("ascii")  # whatever the locale of whoever reads it

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    back = decode(json.loads(line, parse_constant=refuse))
    assert (back.update, back.env_step) == (reading.update, reading.env_step)
    assert back.seconds == pytest.approx(reading.seconds, abs=1e-3, rel=1e-12)
    assert list(back.numbers) == list(reading.numbers)
    assert all(same(reading.numbers[name], back.numbers[name], 9) for name in back.numbers)
    assert back.facts == reading.facts
    pairs = [(reading.histograms, back.histograms), (reading.traces, back.traces)]
    assert reading.tables.keys() == back.tables.keys()
    pairs += [(reading.tables[name], back.tables[name]) for name in back.tables]
    for before, after in pairs:
        assert before.keys() == after.keys()
        for name, cells in after.items():
            assert len(cells) == len(before[name])
            assert all(same(x, y, 6) for x, y in zip(before[name], cells, strict=True))


@quick
@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_float32_comes_back_exactly(values):
    reading = Reading(0, 0, 0.0, {f"x/{i}": value for i, value in enumerate(values)})
    back = decode(json.loads(encode(reading))).numbers
    for i, value in enumerate(values):
        assert np.float32(back[f"x/{i}"]) == np.float32(value) or math.isnan(value)


def test_numbers_of_numpy_are_numbers():
    reading = Reading(np.int64(3), np.int64(4), 0.0, {"a/b": np.float32(0.1), "c/d": np.float64(2.5), "e/f": True})
    back = decode(json.loads(encode(reading)))
    assert back.numbers == {"a/b": pytest.approx(0.1), "c/d": 2.5, "e/f": 1.0}
    assert (back.update, back.env_step) == (3, 4)


def test_facts_hold_what_json_can_hold():
    facts = {"a": {1: (1.5, math.inf, math.nan, -math.inf)}, "b": Path("x/y"), "c": 1 / 3, "d": True}
    back = decode(json.loads(encode(Reading(0, 0, 0.0, {}, facts))))
    assert back.facts == {"a": {"1": [1.5, "inf", "nan", "-inf"]}, "b": "x/y", "c": 0.333333, "d": True}


# ── folders ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path):
    """A sound run folder of five readings."""
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": FORMAT, "name": "mine", "gamma": 0.99}), encoding="utf-8")
    write(folder, [line(i) for i in range(5)])
    return folder


def line(i: int) -> bytes:
    return encode(Reading(i, 64 * i, float(i), {"policy/kl": 0.1 * i, "loss/total": math.nan})).encode()


def write(folder, lines, end=b"\n"):
    (folder / "readings.jsonl").write_bytes(b"\n".join(lines) + end)


def test_a_sound_folder(folder):
    run = read_run(folder)
    assert run.problems == ()
    assert run.path == folder
    assert run.gamma == 0.99
    assert run["policy/kl"].value.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert np.isnan(run["loss/total"].value).all()
    assert read_run(str(folder)).updates == 5


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(RunError, match=r"is not a run folder: expected a folder with run\.json and readings\.jsonl"):
        read_run(tmp_path / "nowhere")


def test_a_file_instead_of_a_folder(folder):
    with pytest.raises(RunError, match=r"readings\.jsonl is not a run folder"):
        read_run(folder / "readings.jsonl")


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(RunError, match=r"has no run\.json: it is not a run folder, or was only partly copied"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"{",
        b"null",
        b"[1, 2]",
        b"\xff\x00\xfe",
        b"\x00" * 64,
        b'"text"',
        b"[" * 100_000,
        b'{"format": 1}}',
        b"3" * 9999,
    ],
)
def test_a_junk_run_json_costs_the_settings_only(folder, junk):
    (folder / "run.json").write_bytes(junk)
    run = read_run(folder)
    (problem,) = run.problems
    assert problem.startswith("run.json cannot be read (")
    assert problem.endswith("; versions and settings of the run are unknown")
    assert len(problem) < 300
    assert run.meta == {}
    assert len(run.readings) == 5


def test_a_run_json_that_is_a_folder(folder):
    (folder / "run.json").unlink()
    (folder / "run.json").mkdir()
    assert "run.json cannot be read" in read_run(folder).problems[0]


def test_a_byte_order_mark_of_some_editor_does_no_harm(folder):
    for name in ("run.json", "readings.jsonl"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    assert read_run(folder).problems == ()
    assert read_run(folder).gamma == 0.99


def test_a_newer_format(folder):
    (folder / "run.json").write_text(json.dumps({"format": FORMAT + 1}), encoding="utf-8")
    with pytest.raises(RunError) as refused:
        read_run(folder)
    assert f"was written in format {FORMAT + 1}, this rldebug reads up to {FORMAT}" in str(refused.value)
    assert "pip install -U rldebug" in str(refused.value)


@pytest.mark.parametrize("cut", [1, 10, 40, len(line(4)) - 1])
def test_a_line_cut_off_in_writing_is_named_and_the_rest_is_kept(folder, cut):
    write(folder, [*[line(i) for i in range(4)], line(4)[:cut]], end=b"")
    run = read_run(folder)
    assert run.problems == ("readings.jsonl line 5 was left out: the last line was cut off in writing",)
    assert len(run.readings) == 4


def test_a_last_line_that_only_lacks_its_end_is_kept(folder):
    write(folder, [line(i) for i in range(5)], end=b"")
    assert read_run(folder).problems == ()
    assert len(read_run(folder).readings) == 5


def test_a_run_that_went_on_after_it_was_killed(folder):
    """The cut line and the next one stand on one line: both are lost, the others are not."""
    write(folder, [line(0), line(1)[:30] + line(2), line(3), line(4)])
    run = read_run(folder)
    assert [each.update for each in run.readings] == [0, 3, 4]
    assert run.problems[0].startswith("readings.jsonl line 2 was left out: ")


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        (b'{"update": 2', "Expecting"),
        (b"hello", "Expecting value"),
        (b"3", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b'["update", 2]', "expected a JSON object"),
        (b"{}", "'update' is missing"),
        (line(2).replace(b'"update":2,', b""), "'update' is missing"),
        (line(2).replace(b'"numbers"', b'"nombers"'), "'numbers' is missing"),
        (line(2).replace(b'"update":2', b'"update":"two"'), "'two' is not a count"),
        (line(2).replace(b'"update":2', b'"update":-2'), "-2 is not a count"),
        (line(2).replace(b'"update":2', b'"update":2.5'), "2.5 is not a count"),
        (line(2).replace(b'"update":2', b'"update":true'), "True is not a count"),
        (line(2).replace(b'"update":2', b'"update":null'), "None is not a count"),
        (line(2).replace(b'"update":2', b'"update":99999999999999999999'), "99999999999999999999 is not a count"),
        (line(2).replace(b'"update":2', b'"update":' + b"9" * 5000), ""),
        (line(2).replace(b'"env_step":128', b'"env_step":NaN'), "nan is not a count"),
        (line(2).replace(b"0.2", b'"two tenths"'), "could not convert string to float: 'two tenths'"),
        (line(2).replace(b"0.2", b"[0.2]"), "TypeError"),
        (line(2).replace(b"0.2", b"null"), "TypeError"),
        (line(2).replace(b"0.2", b'"' + b"x" * 100_000 + b'"'), "could not convert string to float"),
        (b'{"update":2,"env_step":2,"seconds":2,"numbers":[1,2]}', "expected 'numbers' to be a JSON object"),
        (b'{"update":2,"env_step":2,"seconds":2,"numbers":{},"facts":[1]}', "expected 'facts' to be a JSON object"),
        (b'{"update":2,"env_step":2,"seconds":2,"numbers":{},"facts":null}', "expected 'facts' to be a JSON object"),
        (b'{"update":2,"env_step":2,"seconds":2,"numbers":{},"tables":{"a":[1]}}', "'list' object has no attribute"),
        (b'{"update":2,"env_step":2,"seconds":2,"numbers":{},"traces":{"a":[{}]}}', "TypeError"),
        (b'{"update":2,"env_step":2,"seconds":{},"numbers":{}}', "TypeError"),
        (b"\xff\xfe" * 20, ""),
        (b"\x00" * 4096, ""),
        (bytes(each for each in range(256) if each != 10), ""),
        (b"[" * 200_000, "RecursionError"),
        (b'{"a":' * 5000 + b"1", ""),
    ],
)
def test_a_line_edited_by_hand_is_named_and_the_rest_is_kept(folder, edited, told):
    assert edited != line(2)
    write(folder, [line(0), line(1), edited, line(3), line(4)])
    run = read_run(folder)
    (problem,) = run.problems
    assert problem.startswith("readings.jsonl line 3 was left out: ")
    assert told in problem
    assert len(problem) < 300
    assert "\n" not in problem
    assert [each.update for each in run.readings] == [0, 1, 3, 4]
    assert run["policy/kl"].value.tolist() == [0.0, 0.1, 0.3, 0.4]


def test_edits_that_keep_their_sense_are_kept(folder):
    edited = json.dumps({**json.loads(line(2)), "note": "mine"}, indent=None).encode() + b"  \r"
    write(folder, [line(0), b"", line(1), b"   ", edited])
    run = read_run(folder)
    assert run.problems == ()
    assert [each.update for each in run.readings] == [0, 1, 2]


def test_counts_of_the_greatest_size_are_kept(folder):
    write(folder, [encode(Reading(2**63 - 1, 2**63 - 1, 0.0, {"a/b": 1.0})).encode()])
    assert read_run(folder)["a/b"].update.tolist() == [2**63 - 1]


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n  \n"])
def test_an_empty_file_is_an_empty_run(folder, content):
    (folder / "readings.jsonl").write_bytes(content)
    run = read_run(folder)
    assert (run.readings, run.problems) == ((), ())


def test_no_readings_at_all(folder):
    (folder / "readings.jsonl").unlink()
    run = read_run(folder)
    assert run.readings == ()
    assert run.problems == ("readings.jsonl is missing: nothing was recorded, or the folder was only partly copied",)


def test_readings_that_are_a_folder(folder):
    (folder / "readings.jsonl").unlink()
    (folder / "readings.jsonl").mkdir()
    assert read_run(folder).problems[0].startswith("readings.jsonl cannot be read: ")


def test_a_file_of_junk_opens_with_every_line_named(folder):
    (folder / "readings.jsonl").write_bytes(bytes(range(256)) * 4)
    run = read_run(folder)
    assert run.readings == ()
    assert [each.split(" was left out")[0] for each in run.problems] == [
        f"readings.jsonl line {i}" for i in range(1, 6)
    ]


def test_a_huge_line_is_read_like_any_other(folder):
    wide = Reading(2, 128, 2.0, {f"user/{i}": i / 7 for i in range(50_000)})
    write(folder, [line(0), encode(wide).encode(), line(3)])
    run = read_run(folder)
    assert run.problems == ()
    assert len(run.series) == 50_002
    write(folder, [line(0), encode(wide).encode()[:-9], line(3)])
    assert [each.update for each in read_run(folder).readings] == [0, 3]


WHOLE = b"\n".join(line(i) for i in range(5)) + b"\n"


@quick
@given(st.data())
def test_whatever_happens_to_the_file_it_opens(tmp_path_factory, data):
    """Bytes overwritten, inserted or cut out anywhere: it opens, and no line that was left alone is lost."""
    start = data.draw(st.integers(0, len(WHOLE)))
    end = data.draw(st.integers(start, min(start + 80, len(WHOLE))))
    put = data.draw(st.binary(max_size=20))
    damaged = WHOLE[:start] + put + WHOLE[end:]
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "run.json").write_text("{}", encoding="utf-8")
    (folder / "readings.jsonl").write_bytes(damaged)
    run = read_run(folder)
    read = [key(each) for each in run.readings]
    for i in range(5):
        assert line(i) not in damaged.split(b"\n") or key(decode(json.loads(line(i)))) in read
    assert all(problem.startswith("readings.jsonl line ") and len(problem) < 300 for problem in run.problems)


def key(reading: Reading) -> tuple[int, int, float | None]:
    return reading.update, reading.env_step, reading.numbers.get("policy/kl")


# ── folders that are huge or hostile ────────────────────────────────────────────────────────────────────────────────


def test_a_run_of_very_many_readings_is_thinned(folder):
    def reading(i: int) -> bytes:
        facts = {"calls": {"update": ["a.py", i]}} if i % 10_000 == 777 else {}
        kl = math.nan if i == 43_211 else i / 7
        return encode(Reading(i, 2 * i, 0.0, {"policy/kl": kl}, facts)).encode()

    write(folder, [reading(i) for i in range(70_001)])
    run = read_run(folder)
    (problem,) = run.problems
    assert problem == (
        f"70,001 readings were recorded; the diagnosis reads {len(run.readings):,} of them, evenly spread"
    )
    updates = [each.update for each in run.readings]
    assert 10_000 <= len(updates) <= 20_000 + 9
    assert updates == sorted(set(updates))
    assert (updates[0], updates[-1], run.updates) == (0, 70_000, 70_001)
    assert max(np.diff(updates)) == 4
    assert run["policy/kl"].update[np.isnan(run["policy/kl"].value)].tolist() == [43_211]
    assert [each.update for each, _ in run.facts("calls")] == list(range(777, 70_001, 10_000))


def test_as_many_readings_as_are_read_whole(folder):
    write(folder, [line(i) for i in range(MOST_LINES)])
    run = read_run(folder)
    assert run.problems == ()
    assert len(run.readings) == MOST_LINES


def test_of_heavy_lines_fewer_are_read(folder, monkeypatch):
    monkeypatch.setattr("rldebug.evidence.run._MOST_BYTES", 20 * len(line(100)))
    write(folder, [line(i) for i in range(100)])
    run = read_run(folder)
    assert run.problems[0].startswith("100 readings were recorded; the diagnosis reads ")
    assert 10 <= len(run.readings) <= 21
    assert run.updates == 100


def test_a_file_too_big_to_look_through_is_sampled(folder, monkeypatch):
    monkeypatch.setattr("rldebug.evidence.run._HUGE", 10_000)
    monkeypatch.setattr("rldebug.evidence.run.MOST_LINES", 100)
    write(folder, [line(i) for i in range(5000)])
    run = read_run(folder)
    assert run.updates == 5000
    assert 80 < len(run.readings) <= 100
    assert run.problems[0].startswith("readings.jsonl has 0 GB; the diagnosis reads ")


def test_a_line_without_end_is_named(folder):
    write(folder, [line(0), b"x" * 9_000_000, line(2), b"y" * 4_000_001], end=b"")
    run = read_run(folder)
    assert [each.update for each in run.readings] == [0, 2]
    assert run.problems == (
        "readings.jsonl line 2 was left out: it is longer than 4,000,000 bytes",
        "readings.jsonl line 4 was left out: it is longer than 4,000,000 bytes",
    )


def test_wrong_lines_without_end_are_counted(folder):
    write(folder, [b"x"] * 3000)
    problems = read_run(folder).problems
    assert len(problems) == 1001
    assert problems[-1] == "2,000 more such lines were left out"


@pytest.mark.parametrize("name", ["run.json", "readings.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_plain_file_is_not_opened(folder, tmp_path, name, kind):
    (folder / name).rename(tmp_path / "elsewhere")
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to(tmp_path / "elsewhere" if kind == "link" else "/dev/zero")
    (problem,) = read_run(folder).problems
    assert problem.startswith(f"{name} cannot be read")
    assert "expected a plain file, found a" in problem
