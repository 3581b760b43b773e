"""PyTorch's own debugger of the backward pass: the program, unchanged, under `torch.autograd.set_detect_anomaly(True)`.

    python detect_anomaly.py CASE.json REPORT.json

Two things it adds to what a program says by itself. A backward function that returns NaN becomes an error; the
component is then "network": all that is named is a forward function whose gradient is not finite, a matter of the
numbers in the network and its loss. And an error of the backward pass (a tensor changed in place, a graph used twice)
comes with the forward line that it belongs to: "autograd-graph". Any other crash is the program's own.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, answer, place, run_program

_FORWARD = "Traceback of forward call that caused the error"
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_NAN = re.compile(r"Function '(\w+)' returned nan values")


def judge(case: Case) -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        told = Path(folder, "told")
        error = run_program(case, _anomalies(told))
        traces = [json.loads(each) for each in told.read_text().splitlines()] if told.exists() else []
    if not isinstance(error, Exception):
        return []
    file, line = _forward_line(traces[-1]) if traces else (None, None)
    if file is None:
        file, line = place(error)
    text = str(error)  # of a worker process: its whole traceback
    nan = _NAN.search(text)
    if nan is not None:
        return [Finding("anomaly-nan", "network", "error", nan[0], file, line)]
    if not traces:
        return []
    last = next((each for each in reversed(text.splitlines()) if each.strip()), type(error).__name__)
    said = text if len(text) < 500 else last
    return [Finding("anomaly-backward", "autograd-graph", "error", said, file, line)]


@contextmanager
def _anomalies(told: Path) -> Iterator[None]:
    """Anomaly detection on; the forward traceback, which torch gives as a warning, is kept whatever the filters say."""
    import torch

    show, filters = warnings.showwarning, (warnings.filterwarnings, warnings.simplefilter)

    def keep(message: Any, category: Any, *rest: Any, **named: Any) -> None:
        if _FORWARD in str(message):
            with told.open("a") as file:  # a file: it may be a forked worker that says it
                file.write(json.dumps(str(message)) + "\n")
        else:
            show(message, category, *rest, **named)

    def ours_first(original: Any) -> Any:
        def filtered(*given: Any, **named: Any) -> None:
            original(*given, **named)
            filters[0]("always", message="Error detected in")

        return filtered

    before = torch.is_anomaly_enabled()
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message="Error detected in")
        warnings.showwarning = keep
        warnings.filterwarnings, warnings.simplefilter = (ours_first(each) for each in filters)
        torch.autograd.set_detect_anomaly(True)
        try:
            yield
        finally:
            torch.autograd.set_detect_anomaly(before)
            warnings.filterwarnings, warnings.simplefilter = filters


def _forward_line(trace: str) -> tuple[str | None, int | None]:
    inside = [(Path(file).name, int(line)) for file, line in _FRAME.findall(trace) if Path(file).parent == Path.cwd()]
    return inside[-1] if inside else (None, None)


if __name__ == "__main__":
    answer(judge)
