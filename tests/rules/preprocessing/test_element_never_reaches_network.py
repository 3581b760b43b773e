from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.preprocessing.element_never_reaches_network import ElementNeverReachesNetwork
from tests.programs.data import found, seen
from tests.programs.made import call, nodes, script
from tests.watched import watched

RNG = np.random.default_rng(0)


def made(*lost: int) -> Script:
    audits = []
    for _ in range(4):
        obs = RNG.normal(size=(64, 4))
        given = obs * 0.5
        given[:, list(lost)] = 0
        audits.append((nodes(obs), [call(0, np.arange(64), given, acting=True, match="alias")]))
    return script(audits)


def test_fires_on_elements_set_to_zero() -> None:
    (finding,) = ElementNeverReachesNetwork().check(made(1, 3))
    assert finding.seen.startswith("elements 1, 3 of the input constant")


def test_quiet_where_all_come_through() -> None:
    assert not list(ElementNeverReachesNetwork().check(made()))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(ElementNeverReachesNetwork(), seen(watched, "normalised", "element lost"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(ElementNeverReachesNetwork(), seen(watched, "normalised"))
