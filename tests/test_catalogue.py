"""Meta-tests: what every entry of the catalogue must have. Each names all who break it, not only the first."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import math
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

import rldebug
from rldebug import catalogue
from rldebug.config import Config
from rldebug.diagnose import choose, derive, diagnose, lacking
from rldebug.entry import CODE, NAME, PREFIXES, sections
from rldebug.evidence.run import FACTS, Run, read_run
from rldebug.rule import NotEnough, Rule
from rldebug.watch import watch
from tests import planted_envs, planted_sources, planted_trl
from tests.commands.test_run_children import ABOUT_ACTORS, ABOUT_RANKS
from tests.planted_algos import plant as planted_algos
from tests.wild.test_wild import PROGRAMS
from tests.zoo import plant

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SHELF = ROOT / "src" / "rldebug" / "rules"

SECTIONS = [
    "What it checks",
    "Why it matters",
    "Likely causes",
    "What to try first",
    "When it is fine",
    "References",
]

# Readings that no metric computes. The hooks take them; `loss/…` and `user/…` bear the names the user gave.
BY_HOOKS = {"env/action_mode_share", "env/obs_nonfinite", "env/action_nonfinite", "env/action_outside"}
BY_HOOKS |= {"loss/policy", "loss/value", "loss/total", "loss/entropy"}

NOT_IN_THE_ZOO: dict[str, str] = {
    "PRF003": "needs a GPU",
    "PRF917": "needs a GPU",
    "PRF924": "needs a GPU",
    "PRF925": "needs a GPU",
    "EVA004": "about settings, not about a bug",
    "ACT375": "its log-probs are not finite, so that small programs stop; sac_single_file of bench/bugs shows it",
    "TGT006": "no bug was found that fails noisy-arms and nothing below it",
}
"""Stable rules that no planted bug shows: code -> why none can be planted in a small program on a CPU."""


def rules() -> list[type[Rule]]:
    """Every class on our own shelf, also where two share a code: `catalogue.rules()` would show only one of them."""
    root = importlib.import_module("rldebug.rules")
    modules = [importlib.import_module(info.name) for info in pkgutil.walk_packages(root.__path__, "rldebug.rules.")]
    return [
        item
        for module in modules
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Rule) and item.__module__ == module.__name__
    ]


def stem(rule: type[Rule]) -> str:
    return rule.name.replace("-", "_")


def shelf(rule: type[Rule]) -> str:
    return rule.component().replace("-", "_")


def nobody(offenders: list[str], claim: str) -> None:
    assert not offenders, f"{claim}; these do not:\n  " + "\n  ".join(sorted(offenders))


def known_readings() -> set[str]:
    return {name for metric in catalogue.metrics() for name in metric.names} | BY_HOOKS


# ── what an entry is called ─────────────────────────────────────────────────────────────────────────────────────────


def test_there_are_at_least_fifty_rules():
    assert len(catalogue.rules()) >= 50


def test_rules_that_read_something_are_found_without_importing_the_others():
    every = catalogue.rules()
    for kinds in ({"Run", "Script"}, {"Crash"}, {"Source"}, {"Verification"}):
        with catalogue.narrowed(frozenset(kinds)):
            assert set(catalogue.rules()) == {rule for rule in every if rule.reads in kinds}
    assert catalogue.rules() == every


def test_the_catalogue_shows_every_class_on_the_shelf():
    nobody([rule.__name__ for rule in rules() if rule not in catalogue.rules()], "every rule is in the catalogue")


def test_every_file_on_the_shelf_holds_one_rule():
    held = Counter(rule.__module__ for rule in rules())
    files = [file for file in SHELF.glob("*/*.py") if file.stem != "__init__"]
    wrong = [
        f"{file.parent.name}/{file.name} holds {held[f'rldebug.rules.{file.parent.name}.{file.stem}']}"
        for file in files
        if held[f"rldebug.rules.{file.parent.name}.{file.stem}"] != 1
    ]
    nobody(wrong, "one fault, one file")


def test_codes_are_unique_and_never_return():
    times = Counter(rule.code for rule in rules())
    retired = re.findall(r"^([A-Z]{3}\d{3})\b", (TESTS / "tombstones.txt").read_text(encoding="utf-8"), re.MULTILINE)
    taken = [f"{rule.code} {rule.name}" for rule in rules() if times[rule.code] > 1 or rule.code in retired]
    nobody(taken, "every code has one meaning, for ever")


def test_codes_name_the_component_whose_shelf_the_rule_stands_on():
    wrong = [
        f"{rule.code} {rule.name} in {rule.__module__}"
        for rule in rules()
        if not CODE.fullmatch(rule.code) or rule.__module__.split(".")[2] != shelf(rule)
    ]
    nobody(wrong, "codes are [A-Z]{3}\\d{3}, and their letters name the component whose folder the file is in")
    assert {folder.name for folder in SHELF.iterdir() if folder.is_dir() and folder.name != "__pycache__"} <= {
        each.replace("-", "_") for each in PREFIXES.values()
    }


def test_name_file_and_class_are_the_same_words():
    times = Counter(rule.name for rule in rules())
    wrong = [
        f"{rule.code} {rule.name}: class {rule.__name__} in {rule.__module__}"
        for rule in rules()
        if not NAME.fullmatch(rule.name)
        or times[rule.name] > 1
        or rule.__module__.split(".")[-1] != stem(rule)
        or rule.__name__ != "".join(part.capitalize() for part in rule.name.split("-"))
    ]
    nobody(wrong, "names are kebab-case and unique; file and class bear them too")


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_have_their_sections_in_order_and_none_is_empty():
    wrong = [
        f"{rule.code}: {[title for title in SECTIONS if not found.get(title)] or list(found)}"
        for rule in rules()
        if list(found := sections(rule.page())) != SECTIONS or not all(found.values())
    ]
    nobody(wrong, f"pages have the sections {', '.join(SECTIONS)}")


def test_first_lines_fit_and_end_in_a_full_stop():
    wrong = [
        f"{rule.code} ({len(rule.summary())} columns): {rule.summary()}"
        for rule in rules()
        if not rule.summary().endswith(".")
        or len(rule.summary()) > 72
        or rule.page().split("\n")[1:2] not in ([""], [])
    ]
    nobody(wrong, "a page begins with one sentence of at most 72 columns, a full stop, and an empty line")


def test_likely_causes_are_numbered_and_can_be_confirmed():
    wrong = []
    for rule in rules():
        causes = sections(rule.page()).get("Likely causes", "")
        numbers = [int(each) for each in re.findall(r"^(\d+)\. ", causes, re.MULTILINE)]
        if numbers != list(range(1, len(numbers) + 1)) or not numbers:
            wrong.append(f"{rule.code}: numbered {numbers}")
        wrong += [
            f"{rule.code}: cause {number} has no `Confirm:`"
            for number, cause in enumerate(re.split(r"^\d+\. ", causes, flags=re.MULTILINE)[1:], start=1)
            if "Confirm:" not in cause
        ]
    nobody(wrong, "likely causes are a list from 1, and each says what would confirm it")


def test_pages_mention_only_what_exists():
    codes = {rule.code for rule in rules()}
    names = {rule.name for rule in rules()} | {probe.name for probe in catalogue.probes()}
    readings = known_readings()
    families = {name.partition("/")[0] for name in readings}
    wrong = []
    for rule in rules():
        ticked = re.findall(r"`([^`\n]+)`", rule.page())
        missing = [each for each in re.findall(r"\b[A-Z]{3}\d{3}\b", rule.page()) if each not in codes]
        missing += [
            each
            for each in ticked
            if re.fullmatch(r"[a-z_]+/[a-z0-9_]+", each) and each.partition("/")[0] in families and each not in readings
        ]
        missing += [each for each in ticked if re.fullmatch(r"[a-z]+(-[a-z]+)+", each) and each not in names]
        wrong += [f"{rule.code} mentions {each}" for each in dict.fromkeys(missing)]
    nobody(wrong, "codes, rules and readings that a page mentions exist")


# ── the class ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rules_are_final_frozen_dataclasses_that_need_no_arguments():
    wrong = []
    for rule in rules():
        params = vars(rule).get("__dataclass_params__")
        if params is None or not params.frozen:
            wrong.append(f"{rule.code}: not a frozen dataclass of its own")
        elif not all(each.kw_only for each in dataclasses.fields(rule)) or "kw_only=True" not in inspect.getsource(
            rule
        ):
            wrong.append(f"{rule.code}: not kw_only")
        if rule.__mro__[1] is not Rule:
            wrong.append(f"{rule.code}: inherits from {rule.__mro__[1].__name__}")
        if inspect.unwrap(rule.check) is Rule.check:
            wrong.append(f"{rule.code}: has no check()")
        missing = [
            each.name
            for each in dataclasses.fields(rule)
            if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        ]
        if missing:
            wrong.append(f"{rule.code}: no default for {missing}")
    nobody(wrong, "a rule is `@dataclass(frozen=True, kw_only=True)`, straight from Rule, and Rule() makes one")
    for rule in rules():
        assert rule() == rule()


def test_thresholds_are_numbers_and_say_what_they_mean():
    wrong = []
    for rule in rules():
        source = inspect.getsource(rule)
        lines = source.splitlines()
        comments = {
            node.target.id: lines[node.end_lineno - 1][node.end_col_offset :].strip()
            for node in ast.parse(source).body[0].body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        for each in dataclasses.fields(rule):
            kinds = {"int": (int,), "float": (int, float)}.get(str(each.type), ())
            if isinstance(each.default, bool) or not isinstance(each.default, kinds) or not math.isfinite(each.default):
                wrong.append(f"{rule.code}.{each.name}: {each.type} = {each.default!r} is no number")
            if not re.match(r"# \S", comments.get(each.name, "")):
                wrong.append(f"{rule.code}.{each.name}: no comment behind it")
    nobody(wrong, "thresholds are int or float, finite, with a trailing comment that says what they mean")


def test_class_variables_hold_what_they_should():
    wrong = []
    for rule in rules():
        if rule.severity not in ("error", "warning", "note") or rule.status not in ("stable", "nursery"):
            wrong.append(f"{rule.code}: severity {rule.severity!r}, status {rule.status!r}")
        for attribute in ("needs", "facts", "follows", "explains"):
            value = getattr(rule, attribute)
            if not isinstance(value, tuple) or len(set(value)) != len(value):
                wrong.append(f"{rule.code}.{attribute}: {value!r} is no tuple of different names")
    nobody(wrong, "severity and status are of the closed sets; needs, facts, follows are tuples")


def test_what_a_rule_needs_is_recorded_by_somebody():
    given = known_readings()
    wrong = [
        f"{rule.code} needs {need}"
        for rule in rules()
        for need in rule.needs
        if need not in given and not need.startswith(("loss/", "user/"))
    ]
    wrong += [f"{rule.code} needs the fact {fact}" for rule in rules() for fact in rule.facts if fact not in FACTS]
    nobody(wrong, "needs are readings that some metric gives, facts are in evidence.run.FACTS")


def test_readings_a_rule_looks_at_exist():
    """A misspelt name gives an empty series, and a rule that can never fire."""
    given = known_readings() | {f"{name}@" for name in known_readings()}
    families = {name.partition("/")[0] for name in known_readings()}
    wrong = []
    for rule in rules():
        source = Path(inspect.getfile(rule)).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            name = node.value
            if not re.fullmatch(r"[a-z_]+/[a-z0-9_]+@?", name) or name in given:
                continue
            if name.endswith("_") and any(each.startswith(name) for each in given):
                continue  # the beginning of several
            if name.partition("/")[0] in families - {"user"}:
                wrong.append(f"{rule.code} looks at {name}")
        for fact in re.findall(r"\.facts\(\s*\"(\w+)\"", source):
            if fact not in FACTS:
                wrong.append(f"{rule.code} looks at the fact {fact}")
    nobody(wrong, "names that look like readings are readings")


def test_what_the_hooks_are_said_to_record_they_record():
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "src" / "rldebug" / "capture").glob("*.py")]
    nobody(
        [name for name in BY_HOOKS if name.startswith("env/") and not any(f'"{name}"' in text for text in texts)],
        "env/ readings are taken somewhere in capture/",
    )


def test_what_a_rule_follows_from_exists_and_leads_nowhere_back():
    known = {rule.code: set(rule.follows) for rule in rules()}
    nobody(
        [f"{r.code} explains {c}" for r in rules() for c in r.explains if c not in known], "codes in `explains` exist"
    )
    for rule in rules():
        for code in rule.explains:
            known[code].add(rule.code)
    wrong = [f"{code} follows {each}" for code, follows in known.items() for each in follows if each not in known]
    nobody(wrong, "codes in `follows` exist")
    ahead = dict(known)
    while ahead:
        roots = [code for code, follows in ahead.items() if not follows & ahead.keys()]
        assert roots, f"these follow from one another in a circle: {sorted(ahead)}"
        for code in roots:
            del ahead[code]


# ── the proofs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bugs_that_pages_cite_are_listed():
    listed = set(re.findall(r"\b[A-Z]{3}-\d{2}\b", (ROOT / "bench/bugs/sources.toml").read_text(encoding="utf-8")))
    wrong = [
        f"{rule.code}: {each}"
        for rule in rules()
        for each in re.findall(r"\b([A-Z]{3}-\d{2}) of bench/bugs|\b([A-Z]{3}-\d{2}),", rule.__doc__ or "")
        for each in each
        if each and each not in listed
    ]
    nobody(wrong, "every real bug that a page cites is in bench/bugs/sources.toml")


def test_every_rule_is_shown_to_fire_and_to_stay_quiet():
    wrong = []
    for rule in rules():
        file = TESTS / "rules" / shelf(rule) / f"test_{stem(rule)}.py"
        if not file.exists():
            wrong.append(f"{rule.code}: no {file.relative_to(ROOT)}")
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        tests = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for kind in ("test_fires_", "test_quiet_"):
            if not any(name.startswith(kind) for name in tests):
                wrong.append(f"{rule.code}: no {kind}… in {file.relative_to(ROOT)}")
    nobody(wrong, "every rule has a test file with a test_fires_… and a test_quiet_…")


def test_every_test_of_a_rule_has_its_rule():
    expected = {f"{shelf(rule)}/test_{stem(rule)}.py" for rule in rules()}
    files = {f"{file.parent.name}/{file.name}" for file in (TESTS / "rules").glob("*/test_*.py")}
    nobody(sorted(files - expected), "tests/rules mirrors the shelf")


def _plants_its_own(rule):
    """Its own test runs a program that has the fault, raises the very error, or describes graph or machine."""
    text = (TESTS / "rules" / shelf(rule) / f"test_{stem(rule)}.py").read_text(encoding="utf-8")
    if rule.reads in ("Graph", "Machine"):
        return "tests.rules.machines import" in text or "tests.rules.graphs import" in text or "Graph(" in text
    watched = "tests.watched import" in text or "tests.programs.written import" in text
    return watched if rule.reads == "Script" else "tests.rules.crashes import" in text


def test_every_stable_rule_is_found_in_the_wild():
    planted = {plant.bug(name).EXPECT for name in plant.bugs()}
    planted |= {planted_envs.planted(name).EXPECT for name in planted_envs.names()}
    planted |= {planted_algos.bug(name).EXPECT for name in planted_algos.bugs()}
    planted |= {planted_trl.planted(name).EXPECT for name in planted_trl.names()}
    in_sources = {each.names[0] for each in planted_sources.programs()}
    planted |= {rule.code for rule in rules() if rule.name in in_sources}
    planted |= {code for module in PROGRAMS.values() for code in module.FAULTS.values()}
    planted |= {*ABOUT_RANKS, *ABOUT_ACTORS}
    planted |= {
        each.read_text(encoding="utf-8").partition("\n")[0].split()[2]
        for each in (TESTS / "planted_slow").glob("*.py")
        if each.read_text(encoding="utf-8").startswith("# planted: ")
    }
    wrong = [
        f"{rule.code} {rule.name}"
        for rule in rules()
        if rule.status == "stable" and rule.code not in planted and rule.code not in NOT_IN_THE_ZOO
        if not (rule.reads in ("Script", "Crash", "Graph", "Machine") and _plants_its_own(rule))
    ]
    nobody(
        wrong, "every stable rule names a planted bug, in tests/zoo, wild, planted_envs, _algos, _sources, _slow, _trl"
    )
    nobody([code for code in NOT_IN_THE_ZOO if code in planted], "rules with an excuse have no planted bug")


def test_planted_bugs_can_be_planted():
    codes = {rule.code for rule in rules()}
    wrong = []
    for name in plant.bugs():
        bug = plant.bug(name)
        wanted = {bug.EXPECT, *getattr(bug, "ACCEPT", ())}
        wrong += [f"{name} expects {code}" for code in wanted if code not in codes]
        if len((bug.__doc__ or "").split()) < 3:
            wrong.append(f"{name} does not say what is broken")
        try:
            tree = ast.parse(plant.planted_source(bug.BASE, bug.REPLACE))
        except (AssertionError, SyntaxError, OSError) as error:
            wrong.append(f"{name} on {bug.BASE}: {error}")
            continue
        train = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "train")
        takes = {each.arg for each in [*train.args.args, *train.args.kwonlyargs]}
        wrong += [
            f"{name}: {bug.BASE}.train takes no {each}" for each in getattr(bug, "TRAIN", {}) if each not in takes
        ]
        if not bug.REPLACE:
            wrong.append(f"{name} replaces nothing")
    nobody(wrong, "a planted bug replaces text that its base holds once, and expects codes that exist")


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_have_a_name_of_their_own_a_unit_a_formula_and_a_healthy_shape():
    times = Counter(name for metric in catalogue.metrics() for name in metric.names)
    wrong = []
    for metric in catalogue.metrics():
        for name in metric.names:
            plain = {"table": r"[a-z_]+", "histograms": r"[a-z_]+/[a-z_]+/…"}.get(metric.kind, r"[a-z_]+/[a-z0-9_]+")
            if times[name] > 1 or not re.fullmatch(plain, name):
                wrong.append(f"{name}: taken twice, or not family/name")
        if not metric.unit:
            wrong.append(f"{metric.name}: no unit")
        if not metric.summary():
            wrong.append(f"{metric.name}: no docstring")
        if not metric.healthy:
            wrong.append(f"{metric.name}: no healthy shape")
    nobody(wrong, "metrics have unique names, a unit, a docstring, and say what is healthy")


def test_what_a_metric_needs_exists():
    wrong = []
    for metric in catalogue.metrics():
        fields = known_readings() if metric.reads is Run else {each.name for each in dataclasses.fields(metric.reads)}
        wrong += [
            f"{metric.name} needs {need} of {metric.reads.__name__}" for need in metric.needs if need not in fields
        ]
    nobody(wrong, "what a metric needs is a field of what it reads")


def test_every_metric_has_a_test():
    texts = "\n".join(file.read_text(encoding="utf-8") for file in (TESTS / "metrics").rglob("*.py"))
    wrong = [
        f"{metric.name} ({metric.compute.__module__}.{metric.compute.__name__})"
        for metric in catalogue.metrics()
        if not re.search(rf"\b{metric.compute.__name__}\b", texts)
        and not any(f'"{name}"' in texts for name in metric.names)
    ]
    nobody(wrong, "every metric is tested under tests/metrics against a slow twin")


# ── the public names ────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_is_exactly_the_public_names():
    assert rldebug.__all__ == [
        "Attached",
        "Finding",
        "HandoverError",
        "NotEnough",
        "Report",
        "Rule",
        "Run",
        "Tripped",
        "Watch",
        "attach",
        "diagnose",
        "explain",
        "graph",
        "metric",
        "preprocess",
        "probe",
        "read_run",
        "span",
        "train",
        "verify",
        "watch",
    ]
    assert rldebug.__all__ == sorted(rldebug.__all__)
    assert set(rldebug.__all__) <= set(dir(rldebug))
    for name in rldebug.__all__:
        assert not inspect.ismodule(getattr(rldebug, name)), f"rldebug.{name} is the module, not what it is named for"
    with pytest.raises(AttributeError, match="no attribute 'wacth'"):
        _ = rldebug.wacth


def test_type_checkers_see_the_same_public_names():
    tree = ast.parse(Path(rldebug.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {(alias.asname, node.module) for node in block.body for alias in node.names}
    assert seen == {(name, rldebug._HOME[name]) for name in rldebug.__all__}


# ── rules on evidence that says little ──────────────────────────────────────────────────────────────────────────────

ODD = [math.nan, 0.0, 1.0, -1.0, 1e30, math.inf, -math.inf]

# A few updates each: enough for every kind of reading, table and fact.
BASES = {
    "ppo_discrete": {"updates": 3},
    "dqn": {"updates": 60},
    "a2c": {"updates": 40},
    "reinforce": {"updates": 16},
    "ppo_continuous": {"updates": 2},
    "sac_like": {"updates": 30},
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The beginning of a sound run, by the name of its program; each is trained once."""
    runs = {}

    def train(base: str) -> Run:
        if base not in runs:
            folder = tmp_path_factory.mktemp(base)
            file = str(plant.ZOO / "bases" / f"{base}.py")
            space = {"__name__": base, "__file__": file}
            exec(compile(plant.planted_source(base, []), file, "exec"), space)
            space["train"](lambda **arguments: watch(folder=folder, quiet=True, **arguments), **BASES[base])
            (written,) = folder.rglob("readings.jsonl")
            runs[base] = read_run(written.parent)
        return runs[base]

    return train


@pytest.fixture(scope="module")
def odd(sound):
    """Readings of every name with given values, beside the facts and tables of a sound run."""

    def run(values: dict[str, list[float | None]]) -> Run:
        real = sound("ppo_discrete").readings
        made = Run.from_series(values).readings
        return Run.of(
            dataclasses.replace(each, facts=real[i].facts, tables=real[i].tables) if i < len(real) else each
            for i, each in enumerate(made)
        )

    return run


def every() -> tuple[Rule, ...]:
    return tuple(rule for rule in choose(Config(nursery=True)) if rule.reads == "Run")


def crashes(run: Run) -> list[str]:
    """The rules that stumble over a run, of those that would get to see it."""
    run = derive(run, failed := {})
    told = [f"metric {name}: {trace.splitlines()[-1]}" for name, trace in failed.items()]
    for rule in every():
        if lacking(rule, run) is not None and not rule.trap:  # a trap is asked without that question
            continue
        try:
            list(rule.check(run))
        except NotEnough:
            pass
        except Exception as error:
            told.append(f"{rule.code}: {type(error).__name__}: {error}")
    return told


def test_an_empty_run_is_no_evidence():
    report = diagnose([Run.of([])], config=Config(nursery=True))
    assert report.findings == ()
    assert report.broken == {}
    nobody(crashes(Run.of([])), "no rule stumbles over a run without readings")


def test_a_single_undefined_reading_is_no_evidence(odd):
    wrong = []
    for rule in every():
        run = derive(odd({need: [math.nan] for need in rule.needs}), {})
        if lacking(rule, run) is not None:
            continue
        try:
            found = list(rule.check(run))
        except NotEnough:
            continue
        except Exception as error:
            wrong.append(f"{rule.code}: {type(error).__name__}: {error}")
            continue
        if found and not rule.name.startswith("nonfinite-"):  # those are there to say just that
            wrong.append(f"{rule.code} fired: {found[0].message}; seen {found[0].seen}")
    nobody(wrong, "a rule stays quiet, or asks for more, where the one reading is NaN")


@pytest.mark.parametrize("value", ODD)
def test_traps_can_look_at_one_reading_of_anything(value, odd):
    run = odd({name: [value] for name in known_readings()})
    wrong = crashes(run) + crashes(Run.of([dataclasses.replace(run.readings[0], facts={}, tables={})]))
    nobody(wrong, "a single reading stops no rule")


@pytest.mark.parametrize("value", ODD)
def test_rules_do_not_stumble_over_constant_readings(value, odd):
    nobody(crashes(odd({name: [value] * 80 for name in known_readings()})), "constant readings stop no rule")


@pytest.mark.parametrize("shift", range(3))
def test_rules_do_not_stumble_over_readings_that_come_and_go(shift, odd):
    """Some finite, some not, many absent: what a run looks like that takes its details now and then."""
    pattern = [None, 0.5, math.nan, 3.0, None, -math.inf, 0.0, 1e-30, math.inf, -2.0, None, 1e12]
    numbers = {
        name: [pattern[(i * (1 + place % 5) + place + shift) % len(pattern)] for i in range(60)]
        for place, name in enumerate(sorted(known_readings()))
    }
    nobody(crashes(odd(numbers)), "gaps stop no rule")


@pytest.mark.parametrize("base", BASES)
def test_rules_judge_every_beginning_of_a_sound_run_without_stumbling(base, sound):
    whole = sound(base)
    assert not whole.problems
    assert len(whole.readings) > 8
    lengths = sorted({*range(1, 17), *range(20, len(whole.readings), 11), len(whole.readings)})
    stable = {rule.code for rule in rules() if rule.status == "stable"}
    wrong, alarms = [], []
    for length in lengths:
        report = diagnose([Run.of(whole.readings[:length], whole.meta)], config=Config(nursery=True))
        when = f"after {length} readings"
        wrong += [f"{when}, {name}: {trace.splitlines()[-1]}" for name, trace in report.broken.items()]
        alarms += [
            f"{when}, {each.code} {each.message}; seen {each.seen}"
            for each in report.findings
            if each.severity != "note" and each.code in stable
        ]
    nobody(wrong, f"every beginning of a sound {base} can be judged")
    nobody(alarms, f"no beginning of a sound {base} raises an alarm")
