"""Which driver, which build of PyTorch and which GPU go together."""

from __future__ import annotations

from collections.abc import Iterable

from rldebug.evidence.machine import Driver, release

OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
"""Generation of CUDA -> the oldest driver that runs programs of any of its versions."""

_BUILDS = {11: "cu118", 12: "cu126", 13: "cu130"}


def torch_for(driver: Driver) -> str:
    """The command that installs a PyTorch which this driver can run; empty where none is known."""
    number = release(driver.version)[:1]
    fitting = [cuda for cuda, oldest in OLDEST_DRIVER.items() if number and number[0] >= oldest]
    if not fitting:
        return ""
    return f"pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/{_BUILDS[max(fitting)]}"


def has_kernels(capability: str, archs: Iterable[str]) -> bool:
    """sm_86 runs on 8.6 and on what comes after it within 8; compute_90 is compiled for anything from 9.0 on."""
    wanted = release(capability)
    for arch in archs:
        kind, number = arch_number(arch)
        if number is None:
            continue
        if kind == "compute" and wanted >= number:
            return True
        alike = number[0] == wanted[0] and number[1] <= wanted[1]
        if kind == "sm" and (alike if arch[-1].isdigit() else number == wanted):  # sm_90a runs on 9.0 alone
            return True
    return False


def arch_number(arch: str) -> tuple[str, tuple[int, int] | None]:
    """("sm", (8, 6)) of sm_86, ("sm", (12, 0)) of sm_120."""
    kind, _, number = arch.partition("_")
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return kind, (int(digits[:-1]), int(digits[-1])) if digits.isdigit() and len(digits) > 1 else None
