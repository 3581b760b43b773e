"""MuJoCo cannot draw pictures here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_SWITCHED_OFF = ("disable", "disabled", "off", "false", "0")


@dataclass(frozen=True, kw_only=True)
class MujocoCannotDraw(Rule):
    """MuJoCo cannot draw pictures here.

    ## What it checks
    A small scene is drawn in processes of their own: as MUJOCO_GL is set, and with each of egl, osmesa and glfw.

    ## Why it matters
    render(), videos and observations that are pictures fail; training without pictures is not touched.

    ## Likely causes
    1. There is no screen, and MuJoCo asks for one unless told otherwise. Confirm: DISPLAY is not set; set
       MUJOCO_GL=egl.
    2. The libraries of EGL or OSMesa are not installed. Confirm: look for libEGL.so.1 and libOSMesa.so.
    3. A container was started without the GPU's graphics. Confirm: NVIDIA_DRIVER_CAPABILITIES lacks graphics.

    ## What to try first
    Set MUJOCO_GL to one that works, before mujoco is imported. Where none does, install libegl1 or libosmesa6.

    ## When it is fine
    Where nothing is drawn.

    ## References
    MuJoCo, *Python bindings: rendering*.
    """

    code: ClassVar[str] = "INS714"
    name: ClassVar[str] = "mujoco-cannot-draw"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        base, own = evidence.trial("mujoco"), evidence.trial("mujoco as set")
        chosen = evidence.variables.get("MUJOCO_GL", "").lower().strip()
        if own is None or base is None or base.failed or own.draws or chosen in _SWITCHED_OFF:
            return
        works = [each.name.removeprefix("mujoco ") for each in evidence.trials if each.draws]
        yield self.finding(
            "pictures of MuJoCo cannot be drawn as it is set up" + ("" if works else ", nor in any other way"),
            seen=f"MUJOCO_GL{f'={chosen}' if chosen else ' is not set'}; {own.ending or 'the picture is black'}",
            expected="a picture",
            help=f"set MUJOCO_GL={works[0]} before mujoco is imported: that works here"
            if works
            else "install libegl1 (with a GPU: its driver has it), or libosmesa6, and set MUJOCO_GL to egl or osmesa",
            confidence=0.9,
            severity="warning" if chosen else "note",
        )
