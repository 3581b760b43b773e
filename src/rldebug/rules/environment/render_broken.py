"""render() does not give what its mode promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RenderBroken(Rule):
    """render() does not give what its mode promises.

    ## What it checks
    In each declared mode that needs no screen (`rgb_array`, `ansi`), over a few steps: it raises in the code of the
    environment, it returns something else than an array (height, width, 3) of uint8, or a text. That the mode is not
    kept in `env.render_mode`, and that the picture never changes while the observations do, are notes.

    ## Why it matters
    Videos cannot be recorded, or show nothing, and the first thing to do with a policy that does odd things is to look
    at it.

    ## Likely causes
    1. The frame is made of floats from 0 to 1. Confirm: print its dtype and maximum.
    2. Axes are in the order of a network or of pygame: (3, H, W) or (W, H, 3). Confirm: print its shape; transpose it.
    3. `render_mode` is not stored in `__init__`. Confirm: print `env.render_mode`.
    4. It draws the state of the last reset. Confirm: look at which array is drawn.

    ## What to try first
    Call `render()` by hand after `reset()` and look at what comes back.

    ## When it is fine
    Nobody looks. Then leave the mode out of `metadata["render_modes"]`.

    ## References
    Gymnasium, `Env.render`.
    """

    code: ClassVar[str] = "ENV025"
    name: ClassVar[str] = "render-broken"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    frames: int = 10  # that are all equal

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for picture in evidence.pictures:
            failure, misfit = picture.failure, picture.misfit
            if failure is not None and failure.file is not None and not failure.installation:
                yield self.finding(
                    f"render() raises in mode {picture.mode}",
                    where=Where(file=failure.file, line=failure.line),
                    seen=failure.said,
                    expected="a picture in each mode of metadata['render_modes']",
                    help="call render() after reset(), or take the mode out of metadata['render_modes']",
                    confidence=0.85,
                )
            elif misfit is not None:
                yield self.finding(
                    f"{misfit.part} is wrong in mode {picture.mode}",
                    where=evidence.where,
                    seen=f"{misfit.part}: {misfit.seen}",
                    expected=misfit.expected,
                    help="store render_mode in __init__"
                    if misfit.part == "render_mode"
                    else "convert the frame in render()",
                    confidence=0.85,
                    severity="note" if misfit.part == "render_mode" else "warning",
                )
            elif (
                picture.frames >= self.frames and not picture.different and picture.obs_different >= 2 * picture.frames
            ):
                yield self.finding(
                    f"the picture of mode {picture.mode} never changes",
                    where=evidence.where,
                    seen=f"{picture.frames} equal pictures, while the observation changed "
                    f"{picture.obs_different} times",
                    expected="pictures that follow the state",
                    help="draw the present state in render()",
                    confidence=0.7,
                    severity="note",
                )
