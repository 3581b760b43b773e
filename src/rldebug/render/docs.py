"""The catalogue as markdown files: `python -m rldebug.render.docs` writes CATALOGUE.md and the pages of the site.

CATALOGUE.md is committed, to be grepped and reviewed; `--check` says whether it is current and writes nothing. The
pages under docs/catalogue/ are not: they are this text in smaller pieces.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence, Set
from pathlib import Path

from rldebug import catalogue
from rldebug.entry import CODE
from rldebug.finding import COMPONENTS
from rldebug.metric import Metric
from rldebug.render.explain import as_code, comes_from, metric_page, rule_page
from rldebug.rule import Rule

_GENERATED = "<!-- Written by `python -m rldebug.render.docs`; edit the docstrings instead. -->"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m rldebug.render.docs", description="Write the catalogue as files.")
    parser.add_argument("--check", action="store_true", help="exit 1 if CATALOGUE.md is stale; write nothing")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout to write into")
    given = parser.parse_args(arguments)
    committed = given.root / "CATALOGUE.md"
    text = catalogue_page()
    if given.check:
        if not committed.exists() or committed.read_text(encoding="utf-8") != text:
            print(f"{committed} is stale: run `python -m rldebug.render.docs`", file=sys.stderr)
            return 1
        return 0
    committed.write_text(text, encoding="utf-8")
    folder = given.root / "docs" / "catalogue"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, content in site_pages().items():
        (folder / name).write_text(content, encoding="utf-8")
    return 0


def own_rules() -> list[type[Rule]]:
    """Ours: an installed plugin must not change a committed file."""
    return [rule for rule in catalogue.rules() if rule.__module__.startswith(("rldebug.rules.", "rldebug.oracles."))]


def catalogue_page() -> str:
    rules, metrics = own_rules(), catalogue.metrics()
    rows = [
        f"| [{each.code}]({_source(each)}) | {each.name} | {each.component()} | {each.severity} | {_summary(each)} |"
        for each in rules
    ]
    return "\n".join(
        [
            _GENERATED,
            "# Catalogue",
            "",
            f"{len(rules)} rules and {sum(len(each.names) for each in metrics)} readings. "
            "`rldebug explain CODE` prints the page of one.",
            "",
            "## Rules",
            "",
            "| code | name | component | severity | summary |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "## Metrics",
            "",
            "| metric | unit | from | healthy |",
            "|---|---|---|---|",
            *(_metric_row(each) for each in metrics),
            "",
        ]
    )


def site_pages() -> dict[str, str]:
    """File name → text, for docs/catalogue/."""
    pages = {"index.md": _index(), "metrics.md": _metrics()}
    rules = own_rules()
    codes = {rule.code for rule in rules}
    for rule in rules:
        title, _, body = rule_page(rule).partition("\n")
        pages[f"{rule.code}.md"] = f"{_GENERATED}\n{title}\n{_linked(body, codes - {rule.code})}"
    return pages


def _linked(text: str, known: Set[str]) -> str:
    """Codes of other rules, as links to their pages; those in backquotes stay as they are."""
    pattern = rf"(?<![\w`])({CODE.pattern})(?![\w`])"
    return re.sub(pattern, lambda hit: f"[{hit[1]}]({hit[1]}.md)" if hit[1] in known else hit[1], text)


def _index() -> str:
    lines = [_GENERATED, "# Catalogue", "", "Every finding rldebug can make, by the component it blames."]
    lines += ["The readings the rules are made on: [metrics](metrics.md).", ""]
    for component in COMPONENTS:
        chosen = [rule for rule in own_rules() if rule.component() == component]
        if chosen:
            lines += [f"## {component}", "", "| code | name | severity | summary |", "|---|---|---|---|"]
            lines += [
                f"| [{each.code}]({each.code}.md) | {each.name} | {each.severity} | {_summary(each)} |"
                for each in chosen
            ]
            lines.append("")
    return "\n".join(lines)


def _metrics() -> str:
    lines = [_GENERATED, "# Metrics", ""]
    lines += [
        "What is recorded, by name. With several optimizers, each has readings of its own: `grad/norm@policy`.",
        "",
    ]
    for metric in catalogue.metrics():
        lines += [f"#{metric_page(metric)}"]  # one level down
    return "\n".join(lines)


def _metric_row(metric: Metric) -> str:
    names = " · ".join(f"`{name}`" for name in metric.names)
    return f"| {names} | {_cell(metric.unit)} | {_cell(as_code(comes_from(metric)))} | {_cell(metric.healthy)} |"


def _source(rule: type[Rule]) -> str:
    return "/".join(("src", *rule.__module__.split("."))) + ".py"


def _summary(rule: type[Rule]) -> str:
    return _cell(rule.summary())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
