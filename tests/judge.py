"""How tests put a rule before evidence: `fires` wants a finding, `quiet` wants a judgement without one."""

from __future__ import annotations

from typing import Any

from rldebug.diagnose import derive, lacking
from rldebug.evidence.run import Run
from rldebug.finding import Finding
from rldebug.rule import NotEnough, Rule


def fires(rule: Rule, run: Any) -> Finding:
    """The first finding. A rule that cannot run on this evidence fails the test with its reason."""
    found = _judge(rule, run)
    assert found, f"{rule.name} stayed quiet"
    for finding in found:
        assert finding.code == rule.code
        assert finding.message[0].islower() or not finding.message[0].isalpha(), finding.message
        assert not finding.message.endswith("."), finding.message
        assert finding.seen
        assert finding.expected
        assert finding.help
        assert 0 < finding.confidence <= 1
    return found[0]


def quiet(rule: Rule, run: Any) -> None:
    """No finding, though the rule had all it needs to judge."""
    found = _judge(rule, run)
    assert not found, f"{rule.name} fired: {found[0].message}; seen {found[0].seen}"


def not_enough(rule: Rule, run: Any) -> str:
    """The rule declines to judge; its reason."""
    try:
        found = list(rule.check(_derived(run)))
    except NotEnough as thin:
        return str(thin)
    raise AssertionError(f"{rule.name} judged on thin evidence: {found}")


def _derived(evidence: Any) -> Any:
    return derive(evidence, {}) if isinstance(evidence, Run) else evidence


def _judge(rule: Rule, run: Any) -> list[Finding]:
    run = _derived(run)
    reason = lacking(rule, run)
    assert reason is None, f"{rule.name} cannot run: {reason}"
    try:
        return list(rule.check(run))
    except NotEnough as thin:
        raise AssertionError(f"{rule.name} declined to judge: {thin}") from thin
