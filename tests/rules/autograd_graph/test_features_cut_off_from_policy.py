"""Features that the policy reads and the value loss alone trains."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.autograd_graph.features_cut_off_from_policy import FeaturesCutOffFromPolicy
from tests.programs.losses_made import script, term
from tests.watched import findings
from tests.wild import two_heads


def made(cut_off: list[str], *, beside: bool = False) -> Script:
    """`beside`: another loss trains the same layers."""
    audits = []
    for number in range(2):
        losses = [[term(1, number, ratio=np.ones(8), cut_off=cut_off)] for _ in range(3)]
        if beside:
            losses.append([term(1, number, "regression", difference=np.ones(8))])
        audits.append(losses)
    found = script(audits)
    for audit in found.audits:
        for event in audit.of("loss"):
            event.detail["reached"] = ["net"]  # type: ignore[index]
    return found


def test_fires_where_the_value_loss_alone_trains_the_features() -> None:
    (finding,) = FeaturesCutOffFromPolicy().check(made(["net"]))
    assert finding.severity == "warning"
    assert findings(lambda: two_heads.program("features-detached"), "GRA520")


def test_quiet_where_the_policy_loss_reaches_them() -> None:
    assert not list(FeaturesCutOffFromPolicy().check(made([])))


def test_quiet_where_another_loss_trains_them() -> None:
    assert not list(FeaturesCutOffFromPolicy().check(made(["net"], beside=True)))
    assert not findings(lambda: two_heads.program(style="features-of-their-own"), "GRA520")


def test_quiet_where_the_value_head_is_kept_from_them() -> None:
    assert not findings(lambda: two_heads.program(style="value-detached"), "GRA520")
