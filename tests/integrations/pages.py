"""The pages under docs/integrations: the first block of one, and what is there once it was run."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs/integrations"


def block(page, language="python"):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"{page}.md has no block of {language}"
    return found[1]


def run(page, text=None):
    """The names that the first block of Python leaves behind; or those of a text that was made of it."""
    names = {"__name__": "page"}
    exec(compile(block(page) if text is None else text, str(PAGES / f"{page}.md"), "exec"), names)
    return names
