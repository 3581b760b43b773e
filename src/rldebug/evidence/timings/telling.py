"""How advice about speed is worded, and how much it weighs."""

from __future__ import annotations

from rldebug.finding import Severity

_WARNED_OF = 1.10  # times as fast


def weight(speedup: float | None) -> Severity:
    """A tenth of the run is worth a warning; less, or what nobody can promise, a note."""
    return "warning" if speedup is not None and speedup >= _WARNED_OF else "note"


def lasting(seconds: float) -> str:
    """0.013 ms, 12 ms, 3.4 s, 2.1 h."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
