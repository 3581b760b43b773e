"""More cases than the fixed ones: drawn with Hypothesis, and shrunk where the function is wrong."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rldebug.oracles.oracle import Case, Oracle
from rldebug.oracles.search import sized


def counterexample(
    oracle: Oracle, fits: Callable[[Case], bool], wrong: Callable[[Case], bool], most: int
) -> tuple[Case | None, int]:
    """The smallest case found where it is wrong, of those that fit; and how many were tried."""
    if oracle.drawn is None or most == 0:
        return None, 0
    if "hypothesis" not in sys.modules:  # else it is the user's, or pytest's, and has its place
        from hypothesis.configuration import set_hypothesis_home_dir

        set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "rldebug-hypothesis")  # not .hypothesis where we are
    from hypothesis import HealthCheck, Phase, Verbosity, assume, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample, Unsatisfiable

    tried = 0
    make: Callable[[Any], Case] = oracle.drawn

    @st.composite
    def cases(draw: Any) -> Case:
        case = sized(make(draw), oracle)
        assume(fits(case))
        return case

    def fails(case: Case) -> bool:
        nonlocal tried
        tried += 1
        return wrong(case)

    quiet = settings(
        max_examples=most,
        deadline=None,
        database=None,
        derandomize=True,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        return find(cases(), fails, settings=quiet), tried
    except (NoSuchExample, Unsatisfiable):
        return None, tried
