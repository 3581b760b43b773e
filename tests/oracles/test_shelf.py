"""Meta-tests: what every oracle must have. Each names all who break it, not only the first."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rldebug import catalogue
from rldebug.entry import NAME, PREFIXES, sections
from rldebug.oracles import components
from rldebug.oracles.compare import close
from rldebug.oracles.oracle import Oracle
from rldebug.oracles.rules import rules
from rldebug.oracles.search import sized
from rldebug.oracles.shelf import find, oracles
from tests import planted_functions
from tests.test_catalogue import SECTIONS, TESTS, nobody
from tests.test_catalogue import rules as rules_on_the_shelf

MOST_STEPS = 4  # of a fixed case, along any axis of time or rows

# At least so many known mistakes.
SIX = (
    "discounted-return", "n-step", "td", "td-lambda", "gae", "vtrace", "retrace", "dqn-target", "sac-target",
    "td3-target", "replay-buffer", "n-step-replay", "prioritised-replay", "rollout-buffer",
)  # fmt: skip

BY_VALUES = [each for each in oracles() if each.examine is None]


def planted() -> list[planted_functions.Planted]:
    return [each for name in planted_functions.components() for each in planted_functions.planted(name)]


def test_every_file_on_the_shelf_holds_an_oracle_of_its_name():
    files = {file.stem.replace("_", "-") for file in Path(components.__path__[0]).glob("*.py")} - {"--init--"}
    held = {oracle.name for oracle in oracles()}
    nobody(sorted(files - held), "a file in components/ holds the oracle it is named for")


def test_codes_and_names_are_the_oracles_own():
    codes = Counter(each.code for each in (*rules(), *rules_on_the_shelf()))
    names = Counter(each.name for each in (*rules(), *rules_on_the_shelf()))
    retired = re.findall(r"^([A-Z]{3}\d{3})\b", (TESTS / "tombstones.txt").read_text(encoding="utf-8"), re.MULTILINE)
    wrong = [
        f"{each.code} {each.name}"
        for each in rules()
        if codes[each.code] > 1
        or names[each.name] > 1
        or each.code in retired
        or each.code[:3] not in PREFIXES
        or not NAME.fullmatch(each.name)
    ]
    nobody(wrong, "every mistake has a code and a name of its own")
    assert {each.code for each in rules()} <= {each.code for each in catalogue.rules()}


def test_pages_have_every_section_and_a_short_summary():
    wrong = []
    for each in rules():
        page = each.page()
        if list(sections(page)) != SECTIONS or not all(sections(page).values()):
            wrong.append(f"{each.code}: sections")
        if len(each.summary()) > 72 or not each.summary().endswith("."):
            wrong.append(f"{each.code}: summary of {len(each.summary())} columns: {each.summary()}")
        if each.mistake is not None:
            fix = each.mistake.fix
            if (not fix[:1].islower() and not fix[:1].isdigit()) or fix.endswith("."):
                wrong.append(f"{each.code}: fix is a clause in lower case: {fix}")
            if each.mistake.wrong == each.mistake.right:
                wrong.append(f"{each.code}: the wrong line is the right one")
    nobody(wrong, "pages have six sections, a summary of at most 72 columns, and a fix")


def test_each_has_a_summary_an_example_and_mistakes_enough():
    wrong = []
    for oracle in oracles():
        if not oracle.summary.endswith("."):
            wrong.append(f"{oracle.name}: summary")
        if not oracle.example:
            wrong.append(f"{oracle.name}: no example")
        if len(oracle.mistakes) < (6 if oracle.name in SIX else 4):
            wrong.append(f"{oracle.name}: {len(oracle.mistakes)} mistakes")
    nobody(wrong, "an oracle says what it is, shows a signature, and knows mistakes")
    nobody(sorted(set(SIX) - {each.name for each in oracles()}), "the components are there")


def test_every_mistake_is_planted_and_every_component_has_sound_functions():
    known = {name for each in planted() for name in each.mistakes}
    wrong = [f"{each.code} {each.name}" for each in rules() if each.mistake is not None and each.name not in known]
    nobody(wrong, "every mistake is found in a planted function")
    sound = Counter(each.component for each in planted() if not each.mistakes)
    nobody([f"{each.name}: {sound[each.name]}" for each in oracles() if sound[each.name] < 3], "three sound functions")
    assert sum(bool(each.mistakes) for each in planted()) >= 120


@pytest.mark.parametrize("oracle", BY_VALUES, ids=lambda each: each.name)
def test_the_variant_without_a_mistake_is_the_reference(oracle):
    for case in cases(oracle):
        right, made = oracle.reference(case), oracle.variant(case)
        for name, value in right.items():
            if value is not None:
                assert close(np.asarray(made[name], dtype=float), value, 1e-6), f"{name} on {case.name}"


@pytest.mark.parametrize("oracle", BY_VALUES, ids=lambda each: each.name)
def test_fixed_cases_are_small_tell_every_mistake_from_what_is_right_and_from_every_other(oracle):
    for case in cases(oracle):
        assert max(case["sizes"].get(axis, 1) for axis in "TN") <= MOST_STEPS, case.name
    styles = [dict(style.knobs) for style in oracle.styles]
    right = [given(oracle, style) for style in styles]
    silent, made = [], []
    for mistake in oracle.mistakes:
        for way in mistake.ways:
            if all(same(given(oracle, {**style, **way}), r, oracle) for style, r in zip(styles, right, strict=True)):
                silent.append(f"{mistake.name} {way}")
            made.append((mistake.name, way, given(oracle, way)))
    nobody(silent, "every way to make a mistake shows on the fixed cases")
    twins = [
        f"{one[0]} {one[1]} and {other[0]} {other[1]}"
        for one, other in itertools.combinations(made, 2)
        if one[0] != other[0] and same(one[2], other[2], oracle)
    ]
    nobody(twins, "two mistakes differ on a fixed case")


def cases(oracle: Oracle) -> list:
    return [sized(case, oracle) for case in oracle.cases()]


@functools.cache
def forms(name: str) -> list:
    """The fixed cases as functions see them that take one thing or another."""
    oracle = find(name)
    if oracle.told is None:
        return cases(oracle)
    names = {each.name for each in oracle.quantities}
    bound = [frozenset(), frozenset(names), *(frozenset({name}) for name in sorted(names))]
    seen = [oracle.told(case, each) for each in bound for case in cases(oracle) if oracle.is_fair(case, each)]
    return cases(oracle) + seen


def given(oracle: Oracle, knobs: dict) -> list:
    """What a variant gives on every form of every case."""
    return [
        {name: None if value is None else np.asarray(value, dtype=float) for name, value in outputs.items()}
        for outputs in (oracle.variant(case, **knobs) for case in forms(oracle.name))
    ]


def same(first: list, second: list, oracle: Oracle) -> bool:
    for one, other in zip(first, second, strict=True):
        for name in {**one, **other}:
            a, b = one.get(name), other.get(name)
            if a is None or b is None:
                if (a is not None and np.any(a)) or (b is not None and np.any(b)):
                    return False
            elif not close(a, b, oracle.tolerance):
                return False
    return True
