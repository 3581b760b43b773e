"""Who has the time, and how much of it: for the programs beside this one."""

import json
import os
import time
from contextlib import contextmanager

import numpy as np

_kind = os.environ.get("COST_KIND", "burn")
_costs, _parts, _calls = {}, {}, {}
_open = ["other"]
_at = {"first": 0.0, "last": 0.0}


def begin():
    for each in (_costs, _parts, _calls):
        each.clear()
    _at["first"] = _at["last"] = time.perf_counter()


def _book():
    now = time.perf_counter()
    _parts[_open[-1]] = _parts.get(_open[-1], 0.0) + now - _at["last"]
    _at["last"] = now


@contextmanager
def belongs(part):
    _book()
    _open.append("evaluation" if "evaluation" in _open else part)
    try:
        yield
    finally:
        _book()
        _open.pop()


def cost(part):
    _calls[part] = _calls.get(part, 0) + 1
    seconds = float(os.environ.get("COST_" + part.upper().replace(" ", "_"), 0)) / 1e3
    if seconds <= 0:
        return
    began = time.perf_counter()
    if _kind == "sleep":
        time.sleep(seconds)
    elif _kind == "torch":
        numbers = np.ones(3000)
        while time.perf_counter() < began + seconds:
            np.sort(numbers)
    else:
        while time.perf_counter() < began + seconds:
            pass
    _costs[part] = _costs.get(part, 0.0) + time.perf_counter() - began


def end():
    _book()
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            told = {"seconds": _at["last"] - _at["first"], "costs": _costs, "parts": _parts, "calls": _calls}
            json.dump(told, file)
