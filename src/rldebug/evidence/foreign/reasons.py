"""Why a rule could not judge a log, in words that fit one: there is nobody to hand anything over."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NEEDS = re.compile(r"needs (`[^`]*`).*", re.DOTALL)
_HANDED = re.compile(r"not enough data yet: no (.+?) (?:was|were) handed over.*", re.DOTALL)
_LACKS = "not in the log"


def in_a_log(skipped: Mapping[str, str]) -> dict[str, str]:
    """Rule by rule."""
    return {
        code: _HANDED.sub(rf"{_LACKS}: \1", _NEEDS.sub(rf"{_LACKS}: \1", reason)) for code, reason in skipped.items()
    }


def in_short(skipped: Mapping[str, str]) -> dict[str, str]:
    """To be counted: what a log does not hold is one reason."""
    return {
        code: "needs what is not in the log" if reason.startswith(_LACKS) else reason
        for code, reason in skipped.items()
    }
