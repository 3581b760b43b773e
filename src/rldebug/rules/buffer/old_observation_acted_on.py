"""The network is asked about an old observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, ambiguous
from rldebug.forensics.moments import lag, moments_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OldObservationActedOn(Rule):
    """The network is asked about an old observation.

    ## What it checks
    Between two calls of the environment a network is called on one row for each lane. Those rows are traced back: they
    are never the newest observations, but always older ones: the first of the episode, or those of the step before.
    Only programs with one environment, and observations that occurred once, are judged.

    ## Why it matters
    The agent acts blindly: its actions answer to a state that has passed.

    ## Likely causes
    1. `obs = next_obs` is missing at the end of the loop. Confirm: print the observation before each action.
    2. The new observation is bound to another name (`obs_`, `state` and `next_state`). Confirm: the same.
    3. A tensor is made from the observation once, before the loop. Confirm: look where it is made.

    ## What to try first
    Add `obs = next_obs` as the last line of the loop.

    ## When it is fine
    Agents that must act on delayed observations on purpose, or in another thread; programs with threads are not judged.

    ## References
    Seen in the wild: ENV-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF316"
    name: ClassVar[str] = "old-observation-acted-on"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    calls: int = 24  # on rows that can be traced
    current: float = 0.1  # share that may be on the newest observation, as the first of an episode is
    steps: float = 0.4  # of the env steps of an audit that must go with such a call

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = [each for each in evidence.streams if each["steps"] or each["resets"]]
        if len(streams) != 1 or evidence.noted("thread"):
            return
        lanes = int(streams[0]["lanes"])
        lags: list[int] = []
        firsts = steps = 0
        audits: set[int] = set()
        example: Call | None = None
        current, moments = moments_of(evidence, lanes)
        lags += [0] * len(current)
        for moment, calls in moments.items():
            # Whoever asks about the newest observation too may ask about others, to learn; gradients tell nothing: log-
            # probs may be kept with their graph while acting.
            sure = [
                each
                for each in calls
                if not (each.places < 0).any() and not ambiguous(each.audit.nodes, each.places).any()
            ]
            if moment in current or not sure:
                continue
            call = min(sure, key=lag)
            lags.append(lag(call))
            if lags[-1] > 0:
                firsts += bool(call.audit.nodes.first[call.places].all())
                audits.add(call.audit.number)
                example = example or call
        for audit in evidence.audits:
            steps += int((audit.nodes.acted & (audit.nodes.phase >= audit.phase)).sum()) // lanes
        if len(lags) < self.calls:
            raise NotEnough(f"{len(lags)} calls on one row for each lane could be traced")
        old = [each for each in lags if each > 0]
        if example is None or len(audits) < 2 or len(old) < max(self.calls, self.steps * steps):
            return
        # The first observation of an episode is the newest one once, whatever follows.
        if len(lags) - len(old) > self.current * len(lags) + firsts * 0.2:
            return
        what = (
            "the first observation of the episode"
            if firsts > 0.9 * len(old)
            else f"the observation of {int(np.median(old))} env calls before"
        )
        yield self.finding(
            "the network is asked about an old observation",
            where=example.event.where,
            seen=f"{what} in {len(old)} of {len(lags)} calls",
            expected="the newest observation",
            help="put the observation that env.step returns in the place of the old one before the next action is "
            "chosen",
            confidence=0.95,
        )
