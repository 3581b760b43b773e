"""A corpus of one small program, which needs no torch: it is run many times."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """\
import sys

SEED = 1


def compute_gae(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    adv, acc, following = [0.0] * len(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        acc = delta + gamma * lam * (1 - dones[t]) * acc
        adv[t], following = acc, values[t]
    return adv


def main():
    score = 100.0
    print("episode 1 score 3.0")
    print(f"final score {score + SEED + len(sys.argv)}")


if __name__ == "__main__":
    main()
"""

BASE = """\
title = "A program that learns at once"
style = "single file"
algorithm = "none"
env = "none"
half = "validation"
entry = "train.py"
score = 'score (-?[\\d.]+)'
random = 10.0
learned = 90.0
cpu_seconds = 2
[[seed]]
old = "SEED = 1"
new = "SEED = {seed}"
[verify]
gae = "train.py:compute_gae"
"""

BUGS = """\
[[bug]]
name = "never-learns"
components = ["environment", "buffer"]
codes = ["ENV001"]
sources = ["class"]
why = "It earns half."
[[bug.replace]]
old = "    score = 100.0\\n"
new = "    score = 30.0\\n"

[[bug]]
name = "raises"
components = ["autograd-graph"]
sources = ["GRA-01"]
why = "It divides by zero."
crash = "ZeroDivisionError"
[[bug.replace]]
old = "    score = 100.0\\n"
new = "    score = 100.0 / 0\\n"

[[bug]]
name = "gae-leaks"
components = ["advantage"]
sources = ["ADV-15"]
why = "Advantages flow over the end of an episode."
[[bug.replace]]
old = "acc = delta + gamma * lam * (1 - dones[t]) * acc"
new = "acc = delta + gamma * lam * acc"
"""

CONTROLS = """\
[[control]]
name = "other-words"
why = "It says more."
[[control.replace]]
old = 'print("episode 1 score 3.0")'
new = 'print("the first episode: score 3.0")'

[[control]]
name = "too-short"
lacks = "budget"
why = "It has no time."
[[control.replace]]
old = "    score = 100.0\\n"
new = "    score = 12.0\\n"
"""


def write(folder: Path, *, base: str = BASE, bugs: str = BUGS, controls: str = CONTROLS) -> Path:
    corpus = folder / "zoo" / "corpus"
    place = corpus / "quick"
    place.mkdir(parents=True)
    for name, text in {
        "train.py": PROGRAM,
        "base.toml": base,
        "bugs.toml": bugs,
        "controls.toml": controls,
    }.items():
        (place / name).write_text(text, encoding="utf-8")
    return corpus
