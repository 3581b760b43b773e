"""Pictures of the environment are drawn in training, and nobody learns from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Slice, Spot, Timing, total
from rldebug.evidence.timings.calling import stepped_at
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule
from rldebug.syntax.names import method
from rldebug.syntax.places import above

_RECORDERS = ("wrappers/rendering.py", "wrappers/vector/rendering.py", "vec_video_recorder.py")


def _for_observations(each: Slice) -> bool:
    """A wrapper that puts the picture in the place of the observation, as gymnasium's AddRenderObservation."""
    return any("wrapper" in (spot.kind, spot.role) and spot.function.endswith("observation") for spot in each.stack)


def _recorded(each: Slice) -> bool:
    return any(spot.file.replace("\\", "/").endswith(_RECORDERS) for spot in each.stack)


def _asked(timing: Timing, each: Slice) -> tuple[Spot, ast.AST] | None:
    """The outermost `….render()` of the user's own, and what it stands in."""
    for spot in each.stack:
        source = timing.source(spot.file) if spot.kind == "user" else None
        node: ast.AST | None = None if source is None else timing.node(spot)
        if isinstance(node, ast.Expr):  # where Python knows no more than the line
            node = node.value
        if source is not None and node is not None and method(node) == "render":
            return spot, next(above(source, node), node)
    return None


def _thrown_away(timing: Timing, each: Slice) -> bool:
    """`env.render()` as a statement: what it gives is not looked at."""
    found = _asked(timing, each)
    return found is not None and isinstance(found[1], ast.Expr)


@dataclass(frozen=True, kw_only=True)
class RenderingLeftOn(Rule):
    """Environments are drawn in training, and nothing learns from that.

    ## What it checks
    The time spent on pictures of the environments that are learned from, where the render mode is "human", where the
    picture is thrown away or recorded to a video, or where no network is convolutional: from five hundredths of the
    run on. Environments for evaluation do not count, nor wrappers that make the picture the observation.

    ## Why it matters
    A picture mostly costs more than the step it shows. In the mode "human" the environment also waits, to keep the pace
    of a person's eye.

    ## Likely causes
    1. `render_mode="human"` stayed from the time when it was tried out. Confirm: look where the environment is made.
    2. `env.render()` in the loop. Confirm: the line that is named.
    3. A video of every episode. Confirm: the `episode_trigger` of `RecordVideo`.

    ## What to try first
    Make the training environment with `render_mode=None`, and record videos from one of evaluation, now and then.

    ## When it is fine
    While somebody watches, and where the picture is what the agent sees.

    ## References
    Gymnasium documentation, *Env.render* and *RecordVideo*.
    """

    code: ClassVar[str] = "PRF910"
    name: ClassVar[str] = "rendering-left-on"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    share: float = 0.05  # of the run that pictures take

    def check(self, evidence: Timing) -> Iterator[Finding]:
        shown = [each for each in evidence.environments if each.render_mode == "human" and not each.evaluation]
        shapes = [shape for each in evidence.networks for shape in each.shapes]
        blind = bool(shapes) and not any(len(shape) == 4 for shape in shapes)
        played = {place for place, each in enumerate(evidence.environments) if each.evaluation}
        drawn = [
            each
            for each in evidence.of("rendering")
            if each.env not in played
            and not _for_observations(each)
            and (shown or blind or _recorded(each) or _thrown_away(evidence, each))
        ]
        seconds = total(drawn)
        speedup = evidence.speedup(seconds)
        if evidence.share(seconds) < self.share or speedup < WORTH:
            return
        asked = _asked(evidence, drawn[0])
        where = stepped_at(drawn) if asked is None else Where(file=asked[0].file, line=asked[0].line)
        if shown and shown[0].created is not None:
            where = Where(file=shown[0].created[0], line=shown[0].created[1])
        videos = total(each for each in drawn if _recorded(each)) > 0.5 * seconds
        mode = ', with render_mode="human"' if shown else ", recorded to videos" if videos else ""
        yield self.finding(
            "environments are drawn while they are learned from",
            where=where,
            seen=f"{lasting(seconds)} for pictures, {evidence.share(seconds):.0%} of the run{mode}"
            + (f"; {lasting(seconds / evidence.env_steps)} for each env step" if evidence.env_steps else ""),
            expected="no pictures in training",
            help="record fewer episodes: give RecordVideo an episode_trigger"
            if videos and not shown
            else "make the training environment with render_mode=None; draw one of evaluation instead",
            confidence=0.9 if shown or videos else 0.8,
            severity=weight(speedup),
            speedup=speedup,
        )
