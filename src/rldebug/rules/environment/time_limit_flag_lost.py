"""Episodes that run out of time are handed over as terminated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import fact, name_of, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TimeLimitFlagLost(Rule):
    """A wrapper reports the time limit as termination.

    ## What it checks
    A `TimeLimit` is in force, and several episodes end exactly there. It sets `truncated` at that step, whatever else
    happens; but the program was handed `terminated` alone, and never once `truncated`. Or an environment of dm_env is
    played through an adapter: its last step has a discount above 0, and `terminated` is what the adapter returns.

    ## Why it matters
    Running out of time is not a bad state. Where it is taken for one, the value of the last states is learned as zero,
    and with it that of the good episodes, which last longest.

    ## Likely causes
    1. A wrapper around the limit returns `terminated or truncated` as `terminated`. Confirm: print both flags below and
       above each wrapper at the last step.
    2. An adapter to the older interface of four values is adapted back. Confirm: look for `done` in wrappers.
    3. An adapter takes `timestep.last()` for the end, and does not look at `timestep.discount`. Confirm: print the
       discount of last steps.

    ## What to try first
    Let wrappers hand on both flags as they got them.

    ## When it is fine
    Nothing learns from a value of the next state: with plain episode returns it makes no difference.

    ## References
    Pardo et al., *Time limits in reinforcement learning*.
    """

    code: ClassVar[str] = "ENV302"
    name: ClassVar[str] = "time-limit-flag-lost"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    episodes: int = 8  # that end exactly at the limit
    cut: int = 4  # that an environment of dm_env cut off, within an adapter

    def check(self, evidence: Script) -> Iterator[Finding]:
        for stream in training_streams(evidence):
            untold = int(fact(stream, "cuts_untold") or 0)
            if untold >= self.cut and not fact(stream, "cuts_told"):
                yield self.finding(
                    "episodes that run out of time are handed over as terminated",
                    seen=f"{untold} episodes that the environment within {name_of(stream)} cut off, with a discount "
                    "above 0 in their last step, all terminated, none truncated",
                    expected="terminated where the discount of the last step is 0, else truncated",
                    help="terminated = timestep.last() and timestep.discount == 0; truncated = the other last steps",
                    confidence=0.95,
                )
                return
        streams = [each for each in training_streams(evidence) if fact(each, "time_limit")]
        if not streams:
            raise NotEnough("no environment that is trained in has a time limit")
        for stream in streams:
            limit, lengths = int(fact(stream, "time_limit")), list(stream.get("lengths") or ())
            ends = list(stream.get("terminated") or ())
            full = [bool(end) for each, end in zip(lengths, ends, strict=False) if each == limit]
            if fact(stream, "api") or len(full) < self.episodes or not all(full) or max(lengths) > limit:
                continue  # of three or four values there is one flag for both
            if stream.get("truncations") or not self._only_terminated(evidence, int(stream["index"])):
                continue
            yield self.finding(
                "episodes that run out of time are handed over as terminated",
                seen=f"{len(full)} of {len(lengths)} episodes in {name_of(stream)} end at its limit of {limit} steps, "
                "all terminated, none truncated",
                expected="truncated at the time limit",
                help="hand both flags on in every wrapper, as they came",
                confidence=0.9,
            )
            return

    def _only_terminated(self, script: Script, stream: int) -> bool:
        """Both flags at once are how a TimeLimit looks where the environment counts to the same number."""
        return not any(bool(audit.nodes.truncated[audit.nodes.stream == stream].any()) for audit in script.audits)
