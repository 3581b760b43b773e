"""Entry: what every catalogue item has — a code or name to call it by, a summary line, and a page."""

from __future__ import annotations

import inspect
import re
from typing import ClassVar

PREFIXES: dict[str, str] = {
    "ENV": "environment",
    "PRE": "preprocessing",
    "ACT": "action-sampling",
    "BUF": "buffer",
    "DIS": "discounting",
    "ADV": "advantage",
    "VAL": "value-loss",
    "POL": "policy-loss",
    "ENT": "entropy",
    "TGT": "target-network",
    "EXP": "exploration",
    "OPT": "optimizer",
    "GRA": "autograd-graph",
    "NET": "network",
    "NRM": "normalisation",
    "EVA": "evaluation",
    "SEE": "seeding",
    "CKP": "checkpoint",
    "MPR": "multiprocess",
    "PRF": "performance",
    "INS": "installation",
}
"""The closed vocabulary: three letters of a code name the component it blames."""

CODE = re.compile(r"[A-Z]{3}[0-9]{3}")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Entry:
    """One item of the catalogue. Its class docstring is its page, in the terminal, on the web and in the dashboard."""

    code: ClassVar[str]
    name: ClassVar[str]

    @classmethod
    def page(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        return first_line(cls.page())

    @classmethod
    def component(cls) -> str:
        return PREFIXES[cls.code[:3]]


def first_line(page: str) -> str:
    return page.split("\n", 1)[0].strip()


def sections(page: str) -> dict[str, str]:
    """The `## Heading` blocks of a page, in order."""
    found: dict[str, str] = {}
    for block in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, _, body = block.partition("\n")
        found[title.strip()] = body.strip()
    return found
