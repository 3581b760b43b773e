"""The one loop, the folding, the choosing, and rules that come from other packages."""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import dataclass, field, make_dataclass
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug import catalogue
from rldebug.config import Config, ConfigError
from rldebug.diagnose import choose, derive, diagnose, fold, how_to_enable, lacking
from rldebug.evidence.run import Run
from rldebug.finding import Finding
from rldebug.rule import NotEnough, Rule

SCHEMA = jsonschema.Draft202012Validator(json.loads((files("rldebug") / "report.schema.json").read_text("utf-8")))
RUN = Run.from_series({"policy/kl": [0.1, 0.2, 0.3]})


def made(code, *, follows=(), severity="warning", confidence=0.9, check=None, thresholds=(), **classvars):
    """A rule, as if somebody had written it: it fires once, unless `check` does something else."""

    def fire(self, evidence):
        yield self.finding("it is so", seen="s", expected="e", help="h", confidence=confidence)

    space = {
        "code": code,
        "name": f"rule-{code.lower()}",
        "severity": severity,
        "follows": tuple(follows),
        "check": check or fire,
        **classvars,
    }
    return make_dataclass(f"Rule{code}", thresholds, bases=(Rule,), namespace=space, frozen=True, kw_only=True)


@pytest.fixture
def shelf(monkeypatch):
    """Put rules on an otherwise empty shelf."""

    def put(*rules):
        found = tuple(sorted(rules, key=lambda each: each.code))
        monkeypatch.setattr(catalogue, "rules", lambda: found)

    return put


def follows(report):
    return {finding.code: finding.follows for finding in report.findings}


# ── folding ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_follower_is_folded_under_its_root(shelf):
    shelf(made("POL007", severity="error"), made("ENT001", follows=["POL007"]))
    report = diagnose([RUN])
    assert follows(report) == {"POL007": (), "ENT001": ("POL007",)}
    assert [each.code for each in report.roots] == ["POL007"]


def test_a_follower_without_its_root_stays_a_root(shelf):
    shelf(made("POL007", check=lambda self, run: iter(())), made("ENT001", follows=["POL007", "XXX999"]))
    assert follows(diagnose([RUN])) == {"ENT001": ()}


def test_a_chain_is_folded_under_where_it_begins(shelf):
    shelf(made("ENV001"), made("NET001", follows=["ENV001"]), made("GRA001", follows=["NET001"]))
    assert follows(diagnose([RUN])) == {"ENV001": (), "NET001": ("ENV001",), "GRA001": ("ENV001",)}


def test_a_chain_with_a_link_missing_is_two(shelf):
    quiet = made("NET001", follows=["ENV001"], check=lambda self, run: iter(()))
    shelf(made("ENV001"), quiet, made("GRA001", follows=["NET001"]))
    assert follows(diagnose([RUN])) == {"ENV001": (), "GRA001": ()}


def test_several_roots_are_all_named(shelf):
    shelf(
        made("ENV001"), made("OPT004"), made("NET001", follows=["OPT004"]), made("GRA001", follows=["ENV001", "NET001"])
    )
    assert follows(diagnose([RUN]))["GRA001"] == ("ENV001", "OPT004")


def test_a_note_folds_nobody_but_is_folded(shelf):
    shelf(made("POL007", severity="note"), made("ENT001", follows=["POL007"]))
    assert follows(diagnose([RUN])) == {"POL007": (), "ENT001": ()}
    shelf(made("POL007"), made("ENT001", severity="note", follows=["POL007"]))
    assert follows(diagnose([RUN])) == {"POL007": (), "ENT001": ("POL007",)}


def test_a_note_in_the_middle_breaks_the_chain(shelf):
    shelf(made("ENV001"), made("NET001", severity="note", follows=["ENV001"]), made("GRA001", follows=["NET001"]))
    assert follows(diagnose([RUN])) == {"ENV001": (), "NET001": ("ENV001",), "GRA001": ()}


def test_rules_that_follow_from_one_another_do_not_vanish(shelf):
    shelf(made("POL001", follows=["POL002"]), made("POL002", follows=["POL001"]), made("ENT001", follows=["POL001"]))
    assert follows(diagnose([RUN])) == {"POL001": (), "POL002": (), "ENT001": ("POL001", "POL002")}


def test_a_rule_that_follows_from_itself_stays(shelf):
    shelf(made("POL001", follows=["POL001"]))
    assert follows(diagnose([RUN])) == {"POL001": ()}


CODES = [f"POL{i:03d}" for i in range(1, 9)]


@settings(deadline=None, max_examples=80)
@given(
    st.dictionaries(st.sampled_from(CODES), st.sets(st.sampled_from(CODES))),
    st.lists(st.tuples(st.sampled_from(CODES), st.sampled_from(["error", "warning", "note"])), max_size=8),
)
def test_folding_loses_nothing(graph, found):
    """Against paths walked one by one; whatever the rules claim about one another, circles and all."""
    findings = [Finding(code, "x", "policy-loss", level, "m", "s", "e", "h", 0.5) for code, level in found]
    present = {code for code, level in found if level != "note"}

    def leads(code, to, seen=()):
        above = [each for each in graph.get(code, ()) if each in present and each not in seen]
        return any(each == to or leads(each, to, (*seen, each)) for each in above)

    def above(code):
        return {each for each in present if each != code and leads(code, each) and not leads(each, code)}

    patch = pytest.MonkeyPatch()
    patch.setattr(catalogue, "rules", lambda: tuple(made(code, follows=sorted(graph[code])) for code in sorted(graph)))
    try:
        folded = fold(findings)
    finally:
        patch.undo()
    assert [(each.code, each.severity) for each in folded] == found
    roots = {each.code for each in folded if not each.follows}
    for each in folded:
        assert set(each.follows) == {code for code in above(each.code) if not above(code)}
        assert set(each.follows) <= roots & present
    assert bool(roots) == bool(found)


def test_every_rule_of_the_shelf_at_once_is_folded_in_no_time():
    """A program full of NaN fires half the shelf: a walk over all paths would not come back."""
    found = [
        Finding(rule.code, rule.name, rule.component(), "error", "m", "s", "e", "h", 0.9) for rule in catalogue.rules()
    ]
    folded = fold(found)
    roots = {each.code for each in folded if not each.follows}
    assert roots
    assert all(set(each.follows) <= roots for each in folded)


# ── the loop ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_severe_before_mild_and_roots_before_followers(shelf):
    shelf(
        made("ENT001", follows=["POL007"], severity="error", confidence=1.0),
        made("POL007", severity="warning", confidence=0.5),
        made("VAL001", severity="warning", confidence=0.9),
        made("OPT001", severity="note", confidence=1.0),
        made("GRA001", severity="error", confidence=0.2),
    )
    report = diagnose([RUN], command="watch", title="mine")
    assert [each.code for each in report.findings] == ["GRA001", "VAL001", "POL007", "OPT001", "ENT001"]
    assert (report.command, report.title) == ("watch", "mine")
    assert report.checked == ("ENT001", "GRA001", "OPT001", "POL007", "VAL001")


def test_the_suspects_of_a_report(shelf):
    shelf(made("POL007", severity="error", confidence=0.8), made("ENT001", follows=["POL007"], confidence=1.0))
    found = diagnose([RUN]).suspects
    assert [(each.component, each.score) for each in found] == [("policy-loss", 0.8), ("entropy", 0.175)]


def raises(self, evidence):
    raise ZeroDivisionError("of our own making")
    yield


def test_a_broken_rule_is_listed_with_its_traceback_and_the_others_run(shelf):
    shelf(made("ENT001", check=raises), made("POL007"))
    report = diagnose([RUN])
    assert [each.code for each in report.findings] == ["POL007"]
    assert report.checked == ("POL007",)
    assert report.broken["ENT001"].startswith("Traceback")
    assert "ZeroDivisionError: of our own making" in report.broken["ENT001"]
    assert "in raises" in report.broken["ENT001"]
    SCHEMA.validate(report.to_dict())


def fires_then_raises(self, evidence):
    yield self.finding("one", seen="s", expected="e", help="h")
    raise KeyError("then this")


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (fires_then_raises, "KeyError: 'then this'"),
        (lambda self, run: None, "'NoneType' object is not iterable"),
        (lambda self, run: ["it is so"], "check() gave a str, expected findings"),
        (lambda self, run: [self.finding("m", seen="", expected="", help="", severity="fatal")], "severity is 'fatal'"),
        (lambda self, run: [self.finding("m", seen="", expected="", help="", confidence=7)], "confidence is 7"),
        (lambda self, run: 1 / len(run["none"]), "ZeroDivisionError"),
        (Rule.check, "RuleENT001 does not define check()"),
    ],
)
def test_whatever_a_rule_gives_no_report_is_lost(shelf, check, told):
    shelf(made("ENT001", check=check), made("POL007"))
    report = diagnose([RUN])
    assert [each.code for each in report.findings] == ["POL007"]
    assert told in report.broken["ENT001"]
    assert "ENT001" not in report.checked
    SCHEMA.validate(json.loads(json.dumps(report.to_dict())))


def test_what_the_recorder_found_broken_is_kept(shelf):
    shelf(made("ENT001", check=raises))
    report = diagnose([RUN], broken={"hook step": "Traceback …"})
    assert set(report.broken) == {"hook step", "ENT001"}


def test_ctrl_c_is_not_swallowed(shelf):
    def interrupted(self, evidence):
        raise KeyboardInterrupt

    shelf(made("ENT001", check=interrupted))
    with pytest.raises(KeyboardInterrupt):
        diagnose([RUN])


def too_thin(self, evidence):
    raise NotEnough("3 readings, needs 20")
    yield


def test_too_little_evidence_is_a_reason_not_a_verdict(shelf):
    shelf(made("ENT001", check=too_thin))
    report = diagnose([RUN])
    assert report.skipped == {"ENT001": "not enough data yet: 3 readings, needs 20"}
    assert report.checked == ()
    assert report.findings == ()


def test_a_finding_made_before_the_evidence_ran_out_counts(shelf):
    def part(self, evidence):
        yield self.finding("of one optimizer", seen="s", expected="e", help="h")
        raise NotEnough("of the other one")

    shelf(made("ENT001", check=part))
    report = diagnose([RUN])
    assert [each.message for each in report.findings] == ["of one optimizer"]
    assert (report.checked, dict(report.skipped)) == (("ENT001",), {})


def test_two_evidences_are_judged_one_by_one(shelf):
    def long_enough(self, evidence):
        if len(evidence["policy/kl"]) < 3:
            raise NotEnough("short")
        yield self.finding("long", seen="s", expected="e", help="h")

    shelf(made("ENT001", check=long_enough))
    short = Run.from_series({"policy/kl": [0.1]})
    report = diagnose([short, RUN, RUN])
    assert len(report.findings) == 2
    assert report.checked == ("ENT001",)
    assert report.skipped == {}


def test_a_rule_sees_only_the_evidence_it_reads(shelf):
    @dataclass
    class Script:
        text: str

    seen = []
    look = lambda self, evidence: seen.append(evidence) or iter(())  # noqa: E731
    shelf(made("ENT001", check=look), made("POL007", check=look, reads="Script", needs=("policy/kl",)))
    report = diagnose([Script("import torch")])
    assert seen == [Script("import torch")]
    assert report.checked == ("POL007",)
    assert lacking(made("POL007", needs=("policy/kl",))(), Script("")) is None


def test_what_could_not_be_read_is_passed_on(shelf):
    shelf()
    run = Run.of([], problems=("readings.jsonl line 3 was left out: …",))
    assert diagnose([run]).problems == run.problems


def test_no_evidence_no_verdict(shelf):
    shelf(made("ENT001"))
    report = diagnose([])
    assert (report.findings, report.checked, dict(report.skipped)) == ((), (), {})


# ── what is missing, and how to have it ─────────────────────────────────────────────────────────────────────────────

EMPTY = Run.of([])


@pytest.mark.parametrize(
    ("need", "told"),
    [
        ("value/residual_var", "needs `value/residual_var`: pass value= and target= to dbg.update(...)"),
        ("replay/terminated", "needs `replay/terminated`: pass terminated= to dbg.replay(...)"),
        ("reward/mean", "needs `reward/mean`: pass reward= to dbg.rollout(...)"),
        ("episode/count", "needs `episode/count`: use rldebug.watch(env=...)"),
        ("grad/norm", "needs `grad/norm`: use rldebug.watch(optimizer=...)"),
        ("target_net/distance", "needs `target_net/distance`: use rldebug.watch(critic=..., target=...)"),
        ("gpu/utilisation", "needs `gpu/utilisation`: use a CUDA device"),
        # What the loop hands over is named, what the hooks fill in is not.
        (
            "policy/first_log_ratio",
            "needs `policy/first_log_ratio`: pass logp_old= and logp_new= to dbg.update(...), after dbg.rollout(...)",
        ),
        # Computed from other readings: those are asked for.
        ("noise/scale", "needs `noise/scale`: use rldebug.watch(optimizer=...)"),
        ("noise/adam_scale", "needs `noise/adam_scale`: use rldebug.watch(optimizer=...)"),
        ("episode/return_rise", "needs `episode/return_rise`: use rldebug.watch(env=...)"),
        ("layers/dead", "needs `layers/dead`: use rldebug.watch(policy=..., critic=...)"),
        # By the hooks, without a metric.
        ("env/action_outside", "needs `env/action_outside`: pass env= to rldebug.watch(...)"),
        ("loss/policy", "needs `loss/policy`: pass loss={'policy': …, 'value': …} to dbg.update(...)"),
        ("user/mine", "needs `user/mine`: record it with dbg.metric(name, value)"),
        ("nobody/knows", "needs `nobody/knows`"),
    ],
)
def test_a_missing_reading_is_named_with_the_call_that_gives_it(shelf, need, told):
    assert lacking(made("ENT001", needs=(need,))(), EMPTY).startswith(told)
    shelf(made("ENT001", needs=("policy/kl", need)))
    assert diagnose([RUN]).skipped["ENT001"].startswith(told)


def test_a_reading_that_cannot_be_computed_yet_is_not_asked_for():
    rule = made("ENT002", needs=("episode/return_rise",))()
    short = derive(Run.from_series({"episode/return_mean": [1.0, 2.0]}), {})
    assert lacking(rule, short) == "needs `episode/return_rise`: too little was recorded yet"
    assert lacking(rule, derive(Run.from_series({"episode/return_mean": [1.0, 2.0] * 9}), {})) is None


def test_every_need_of_every_rule_says_how_to_have_it():
    silent = {need for rule in catalogue.rules() for need in rule.needs if not how_to_enable(need, EMPTY)}
    assert not silent


def test_a_reading_taken_per_optimizer_is_there(shelf):
    run = Run.from_series({"grad/norm@policy": [1.0]})
    assert lacking(made("ENT001", needs=("grad/norm",))(), run) is None


def test_a_missing_fact_is_named_with_the_call_that_gives_it():
    rule = made("GRA007", facts=("reach",))()
    assert (
        lacking(rule, RUN) == "needs `reach`: pass loss={'policy': …, 'value': …} with their graphs to dbg.update(...)"
    )
    assert lacking(rule, Run.from_series({}, facts={"reach": {}})) is None
    assert lacking(made("GRA007", facts=("nobody_knows",))(), RUN) == "needs `nobody_knows`: it was not recorded"


def test_readings_computed_from_others_are_added_and_a_failure_is_told(monkeypatch):
    metric = catalogue.metric_named("noise/scale")
    run = Run.from_series({"noise/trace": [4.0] * 3, "noise/signal_sq": [2.0] * 3})
    assert derive(run, failed := {})["noise/scale"].last == pytest.approx(2.0)
    assert failed == {}
    assert "noise/scale" not in run

    def fails(run):
        raise RuntimeError("of our own making")

    broken = type(metric)(**{**vars(metric), "compute": fails})
    monkeypatch.setattr(catalogue, "metrics_reading", lambda kind: (broken,))
    assert "noise/scale" not in derive(run, failed := {})
    assert "of our own making" in failed["noise/scale"]


# ── choosing ────────────────────────────────────────────────────────────────────────────────────────────────────────

THRESHOLDS = [("floor", float, field(default=0.05)), ("readings", int, field(default=20))]


@pytest.fixture
def three(shelf):
    shelf(
        made("ENT001", thresholds=THRESHOLDS, name="entropy-collapse"),
        made("POL007", name="policy-loss-sign-flipped"),
        made("VAL099", status="nursery", thresholds=[("floor", float, 0.5)], name="value-of-doubt"),
    )


def chosen(**config):
    return [rule.code for rule in choose(Config(**config))]


def test_stable_rules_run_by_default(three):
    assert chosen() == ["ENT001", "POL007"]
    assert chosen(nursery=True) == ["ENT001", "POL007", "VAL099"]


@pytest.mark.parametrize("name", ["ENT001", "entropy-collapse", "ent001", "Entropy-Collapse"])
def test_code_and_name_are_as_good_as_one_another(three, name):
    assert chosen(select=(name,)) == ["ENT001"]
    assert chosen(ignore=(name,)) == ["POL007"]
    (rule,) = choose(Config(select=("ENT001",), rules={name: {"floor": 0.01}}))
    assert rule.thresholds() == {"floor": 0.01, "readings": 20}


def test_what_is_selected_runs_from_the_nursery_too_and_ignore_has_the_last_word(three):
    assert chosen(select=("VAL099", "POL007")) == ["POL007", "VAL099"]
    assert chosen(select=("VAL099", "POL007"), ignore=("POL007",)) == ["VAL099"]
    assert chosen(nursery=True, ignore=("value-of-doubt",)) == ["ENT001", "POL007"]


def test_thresholds_by_code_and_by_name_come_together(three):
    rules = {"ENT001": {"floor": 0.01}, "entropy-collapse": {"readings": 5}}
    (rule,) = choose(Config(select=("ENT001",), rules=rules))
    assert rule.thresholds() == {"floor": 0.01, "readings": 5}
    (rule,) = choose(Config(select=("ENT001",), rules={"ENT001": {"floor": 1}}))  # a whole number is a number
    assert rule.floor == 1


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"select": ("entropy-colapse",)}, "no rule called 'entropy-colapse'; did you mean entropy-collapse"),
        ({"ignore": ("ENT01",)}, "no rule called 'ENT01'; did you mean ENT001"),
        ({"rules": {"value-of-dout": {}}}, "no rule called 'value-of-dout'; did you mean value-of-doubt"),
        ({"select": ("zzzzzz",)}, "no rule called 'zzzzzz'; `rldebug catalogue` lists them all"),
        (
            {"rules": {"ENT001": {"flor": 1}}},
            "entropy-collapse has no threshold 'flor', expected one of floor, readings",
        ),
        ({"rules": {"POL007": {"floor": 1}}}, "policy-loss-sign-flipped has no threshold 'floor', it has none"),
        ({"rules": {"ENT001": {"floor": "low"}}}, "entropy-collapse.floor is 'low', expected a number"),
        ({"rules": {"ENT001": {"floor": True}}}, "entropy-collapse.floor is True, expected a number"),
        ({"rules": {"ENT001": {"floor": [1]}}}, "entropy-collapse.floor is [1], expected a number"),
        ({"rules": {"ENT001": {"floor": float("nan")}}}, "entropy-collapse.floor is nan, expected a number"),
        ({"rules": {"ENT001": {"readings": 20.5}}}, "entropy-collapse.readings is 20.5, expected a whole number"),
        # Also where the rule will not run.
        ({"rules": {"VAL099": {"flor": 1}}}, "value-of-doubt has no threshold 'flor'"),
        ({"rules": {"ENT001": {"flor": 1}}, "ignore": ("ENT001",)}, "has no threshold 'flor'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(three, config, told):
    with pytest.raises(ConfigError) as refused:
        choose(Config(**config, source="[tool.rldebug] in pyproject.toml"))
    assert str(refused.value).startswith("[tool.rldebug] in pyproject.toml: ")
    assert told in str(refused.value)


def test_a_threshold_changes_the_verdict():
    run = Run.from_series(
        {"policy/entropy_rel": [0.99, 0.6, 0.2] + [0.01] * 60, "episode/return_mean": [9.0, 10.0, 9.5] * 21}
    )
    assert "ENT001" in follows(diagnose([run], config=Config(select=("ENT001",))))
    strict = Config(select=("ENT001",), rules={"entropy-collapse": {"floor": 0.001}})
    assert follows(diagnose([run], config=strict)) == {}


# ── finding an entry ────────────────────────────────────────────────────────────────────────────────────────────────


def test_entries_are_found_by_code_and_by_name():
    for rule in catalogue.rules():
        assert catalogue.find(rule.code) is rule
        assert catalogue.find(f" {rule.name.upper()} ") is rule
    for metric in catalogue.metrics():
        for name in metric.names:
            assert catalogue.find(name) is catalogue.metric_named(name) is metric
    assert catalogue.metric_named("nobody/knows") is None


def test_what_is_not_there_is_near_something():
    with pytest.raises(catalogue.Unknown) as unknown:
        catalogue.find("entropy-colapse")
    assert str(unknown.value).startswith("no entry called 'entropy-colapse'; did you mean entropy-collapse")
    with pytest.raises(catalogue.Unknown, match="`rldebug catalogue` lists them all"):
        catalogue.find("@@@@")
    assert isinstance(unknown.value, KeyError)


def test_metrics_are_found_by_what_they_read():
    read = [
        each for kind in {metric.reads for metric in catalogue.metrics()} for each in catalogue.metrics_reading(kind)
    ]
    assert sorted(each.name for each in read) == [each.name for each in catalogue.metrics()]
    assert catalogue.metrics_reading(int) == ()


# ── rules from other packages ───────────────────────────────────────────────────────────────────────────────────────

GUEST = '''
"""A rule of somebody else."""
from __future__ import annotations
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from rldebug import Finding, Rule, Run

@dataclass(frozen=True, kw_only=True)
class OurOwnFault(Rule):
    """Something only we know about."""

    code: ClassVar[str] = "ENT901"
    name: ClassVar[str] = "our-own-fault"
    needs: ClassVar[tuple[str, ...]] = ("user/mine",)
    follows: ClassVar[tuple[str, ...]] = ("ENT001",)

    most: float = 1.0  # of ours

    def check(self, evidence: Run) -> Iterator[Finding]:
        if evidence["user/mine"].max() > self.most:
            yield self.finding("ours is too large", seen="s", expected="e", help="h")
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a distribution whose entry points name packages of rules, for the length of a test."""
    site = tmp_path / "site"
    ours = {rule.code for rule in catalogue.rules()}

    def install(points: str, **modules: str) -> None:
        for name, text in modules.items():
            file = site.joinpath(*name.split("__")).with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            for folder in file.relative_to(site).parents[:-1]:
                (site / folder / "__init__.py").touch()
            file.write_text(textwrap.dedent(text), encoding="utf-8")
        info = site / "guest-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[rldebug.rules]\n{points}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        catalogue._shelves.cache_clear()

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("guest_")]:
        del sys.modules[name]
    monkeypatch.undo()
    catalogue._shelves.cache_clear()
    assert {rule.code for rule in catalogue.rules()} == ours


def test_a_package_of_rules_is_walked_like_ours(installed):
    installed("mine = guest_a.rules", guest_a__rules__deep__our_own_fault=GUEST)
    rule = catalogue.find("our-own-fault")
    assert rule.code == "ENT901"
    assert rule.component() == "entropy"
    assert catalogue.broken() == {}
    report = diagnose([Run.from_series({"user/mine": [0.5, 3.0]})])
    assert [each.code for each in report.roots] == ["ENT901"]
    assert follows(diagnose([RUN], config=Config(select=("ENT901",)))) == {}
    assert diagnose([RUN]).skipped["ENT901"] == "needs `user/mine`: record it with dbg.metric(name, value)"
    kept = Config(select=("our-own-fault",), rules={"ENT901": {"most": 5}})
    assert follows(diagnose([Run.from_series({"user/mine": [3.0]})], config=kept)) == {}
    SCHEMA.validate(report.to_dict())


@pytest.mark.parametrize("point", ["mine = guest_b", "mine = guest_b:OurOwnFault"])
def test_a_single_module_will_do(installed, point):
    installed(point, guest_b=GUEST)
    assert catalogue.find("ENT901").name == "our-own-fault"


def test_the_same_package_named_twice_is_there_once(installed):
    installed("mine = guest_a.rules\nagain = guest_a.rules", guest_a__rules__our_own_fault=GUEST)
    assert [rule.code for rule in catalogue.rules()].count("ENT901") == 1
    assert catalogue.broken() == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("raise SyntaxWarning('odd')", "SyntaxWarning: odd"),
        ("def broken(:", "SyntaxError"),
        (None, "No module named 'guest_c'"),
    ],
)
def test_a_package_that_cannot_be_imported_is_listed_and_stops_nobody(installed, text, told):
    modules = {} if text is None else {"guest_c__bad": text}
    installed("bad = guest_c\ngood = guest_a.rules", guest_a__rules__our_own_fault=GUEST, **modules)
    assert catalogue.find("ENT901")
    ((name, trace),) = catalogue.broken().items()
    assert name == "rldebug.rules entry point 'bad'"
    assert told in trace
    report = diagnose([Run.from_series({"policy/entropy_rel": [0.9] * 40})])
    assert told in report.broken[name]
    assert "ENT001" in report.checked
    SCHEMA.validate(report.to_dict())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"ENT901"', '"ENT001"', "ENT001 our-own-fault is taken by rldebug.rules.entropy.entropy_collapse"),
        ('"our-own-fault"', '"entropy-collapse"', "is taken by rldebug.rules.entropy.entropy_collapse"),
        ('"ENT901"', '"XYZ901"', "code is 'XYZ901', expected three letters of a component and three digits"),
        ('"ENT901"', '"ENT1"', "code is 'ENT1'"),
        ('    code: ClassVar[str] = "ENT901"\n', "", "code is None"),
        ('"our-own-fault"', '"Our Own Fault"', "name is 'Our Own Fault', expected a kebab-case name"),
        ("most: float = 1.0", "most: float", "OurOwnFault() cannot be made without arguments"),
    ],
)
def test_a_rule_that_would_change_what_a_report_means_is_left_out(installed, old, new, told):
    before = [rule for rule in catalogue.rules() if rule.__module__.startswith("rldebug.")]
    installed("mine = guest_a", guest_a__fault=GUEST.replace(old, new))
    assert list(catalogue.rules()) == before
    assert told in catalogue.broken()["guest_a.fault.OurOwnFault"]
    assert told in diagnose([RUN]).broken["guest_a.fault.OurOwnFault"]


def test_a_symptom_follows_from_whatever_else_is_found():
    def finding(code, severity="warning"):
        return Finding(code, code.lower(), "evaluation", severity, "m", "s", "e", "h", 0.9)

    alone = fold([finding("EVA001"), finding("OPT009", "note")])
    assert not alone[0].follows
    below, above = fold([finding("EVA001"), finding("DIS300", "error")])
    assert below.follows == ("DIS300",)
    assert not above.follows


def test_what_many_faults_end_in_follows_from_one_that_was_seen_in_the_data():
    def finding(code, severity="warning"):
        return Finding(code, code.lower(), "discounting", severity, "m", "s", "e", "h", 0.9)

    below, above = fold([finding("DIS003", "error"), finding("TGT306")])  # targets blow up; statistics of the target
    assert below.follows == ("TGT306",)
    assert not above.follows
    assert not any(each.follows for each in fold([finding("DIS003", "error"), finding("OPT310")]))  # no such data
