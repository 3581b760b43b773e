"""rldebug catalogue: every rule there is."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """
rldebug catalogue --component advantage
rldebug catalogue --json > rules.json
"""
PAGE = "how-to/read-a-report.md"


def catalogue(
    component: Annotated[str | None, typer.Option(help="Only the rules that blame this component.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every rule there is.

    Those of installed packages too (entry points of the group rldebug.rules).

    Exit status: 0 listed, 2 there is no such component.
    """
    from rldebug.render.listing import chosen_rules, print_json, print_rules, rule_record

    rules = chosen_rules(component)
    if json:
        print_json([rule_record(each) for each in rules])
    else:
        print_rules(rules)
