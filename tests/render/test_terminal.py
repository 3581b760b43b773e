"""The report as it is printed, to the letter."""

import io
from pathlib import Path

from rldebug.evidence.learning import Learning
from rldebug.finding import OUT_OF_TIME, Finding, Report, Where
from rldebug.render.terminal import block, in_words, print_report, reasons, render

FLIPPED = Finding(
    code="ADV003",
    name="advantage-sign-flipped",
    component="advantage",
    severity="error",
    message="advantages have the wrong sign",
    seen="advantage = V(s) − return on 4 096 of 4 096 rows (residual 2e-7)",
    expected="return − V(s) (GAE with γ = 0.990, λ = 0.950 fits after the flip)",
    help="swap the operands on line 88",
    confidence=0.99,
    where=Where(file="train.py", line=88, update=3, env_step=1536),
)
COLLAPSE = Finding(
    code="ENT001",
    name="entropy-collapse",
    component="entropy",
    severity="warning",
    message="policy entropy collapsed early",
    seen="0.99 of the maximum at the start, 0.010 at the end",
    expected="above 0.05 for the first 50% of training",
    help="check the sign of the entropy term in the loss",
    confidence=0.9,
    where=Where(update=9216),
    follows=("ADV003",),
)
NOTE = Finding(
    code="ENV004",
    name="reward-always-zero",
    component="environment",
    severity="note",
    message="a message that goes on for longer than any line of a terminal has room for, so that it must be wrapped",
    seen="0",
    expected="rewards",
    help="look at the environment",
    confidence=0.5,
)
REPORT = Report(
    command="report",
    findings=(FLIPPED, NOTE, COLLAPSE),
    checked=tuple(f"OPT{i:03}" for i in range(84)),
    skipped={
        **{f"TGT{i:03}": "needs `target_net/distance`: use rldebug.watch(critic=..., target=...)" for i in range(6)},
        **{f"POL{i:03}": "needs `policy/kl`: pass logp_old= and logp_new= to dbg.update(...)" for i in range(2)},
        "EVA001": "not enough data yet: 3 readings, needs 20",
    },
    broken={"OPT900": "Traceback (most recent call last):\n  File …\nValueError: unhappy"},
    problems=("readings.jsonl line 7 was left out: the last line was cut off in writing",),
)
CURVE = Learning("episode/return_mean", 20.0, 195.5, 4.0, 12_345, None, False, 123_456, True)

EXPECTED = """\
error[ADV003]: advantages have the wrong sign                                 advantage-sign-flipped
   ──▶ train.py:88 · update 3 · 1 536 env steps
    = seen      advantage = V(s) − return on 4 096 of 4 096 rows (residual 2e-7)
    = expected  return − V(s) (GAE with γ = 0.990, λ = 0.950 fits after the flip)
  help: swap the operands on line 88
  more: rldebug explain ADV003
    ╰ follows   ENT001 policy entropy collapsed early  entropy-collapse

note[ENV004]: a message that goes on for longer than any line of a terminal has room for, so that it
    must be wrapped
                                                                                  reward-always-zero
    = seen      0
    = expected  rewards
  help: look at the environment
  more: rldebug explain ENV004

suspects: advantage 0.99 · entropy 0.16
learning: episode/return_mean went from 20 to 195.5; half of the way by 12 345 of 123 456 env steps;
          still moving at the end
1 error, 1 note, 1 more folded under them · 84 rules ran · 9 could not: 6 need
  `target_net/distance`: use rldebug.watch(critic=..., target=...), 2 need logp_old= and logp_new=
  in dbg.update, 1 needs more readings
! readings.jsonl line 7 was left out: the last line was cut off in writing
! rldebug's own OPT900 failed and was left out: ValueError: unhappy
page: rldebug report .rldebug/runs/x --html report.html
"""


def test_the_whole_report_at_width_100():
    text = render(REPORT, run_folder=Path(".rldebug/runs/x"), curve=CURVE, width=100)
    assert text.plain == EXPECTED


def test_no_line_is_wider_than_the_terminal():
    for width in (60, 80, 100):
        for line in render(REPORT, curve=CURVE, width=width).plain.splitlines():
            assert len(line) <= width, line


def test_a_report_that_ran_out_of_time_gives_no_all_clear():
    text = render(Report("run", checked=("ENT001",), skipped={"TGT001": OUT_OF_TIME})).plain
    assert text.startswith("nothing wrong found so far, but the diagnosis is unfinished · 1 rule ran · 1 could not")
    assert "`rldebug report`" in text


def test_a_clean_report_says_what_ran():
    text = render(Report("report", checked=("ENT001",), skipped={"TGT001": "not enough data yet: x"})).plain
    assert text == "nothing wrong found · 1 rule ran · 1 could not: 1 needs more readings\n"


def test_brackets_in_the_users_words_are_no_markup():
    odd = Finding("ENT001", "x", "entropy", "note", "x[bold]y", "[red]a[/]", "[/]", "[link=http://x]", 0.5)
    out = io.StringIO()
    print_report(Report("report", (odd,)), file=out)
    assert "x[bold]y" in out.getvalue()
    assert "[red]a[/]" in out.getvalue()


def test_a_file_below_the_current_folder_is_named_from_here(tmp_path):
    here = Where(file=str(tmp_path / "train.py"), line=3)
    text = block(Finding("ENT001", "x", "entropy", "note", "m", "s", "e", "h", 0.5, where=here)).plain
    assert "──▶ train.py:3\n" in text
    away = Where(file="/elsewhere/train.py", line=3)
    text = block(Finding("ENT001", "x", "entropy", "note", "m", "s", "e", "h", 0.5, where=away)).plain
    assert "──▶ /elsewhere/train.py:3\n" in text


def test_many_problems_are_counted():
    text = render(Report("report", problems=tuple(f"line {i}" for i in range(1000)))).plain
    assert text.count("! line") == 5
    assert "! and 995 more" in text


def test_the_commonest_reasons_come_first():
    skipped = {str(i): f"needs `m{i % 5}`: pass a{i % 5}= to dbg.update(...)" for i in range(12)}
    three = ["3 need a0= in dbg.update", "3 need a1= in dbg.update", "2 need a2= in dbg.update"]
    assert reasons(skipped) == ", ".join([*three, "4 other things"])


def test_what_was_not_measured_is_not_spoken_of() -> None:
    """Readings may stop long before the program does."""
    still = Learning("episode/return_mean", 14.0, 14.75, 4.5, None, None, False, 1_163, False)
    said = in_words(still, 5_000)
    assert said.startswith("in the first 1 163 of 5 000 env steps")
    assert "end" not in said
