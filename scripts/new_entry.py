"""What `make new` runs: writes a rule and its failing test, headings in place, with the next free code."""

from __future__ import annotations

import argparse
import difflib
import keyword
import re
import runpy
import sys
from pathlib import Path

RULE = '''\
"""{sentence}."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class {class_name}(Rule):
    """{sentence}.

    ## What it checks

    ## Why it matters

    ## Likely causes

    ## What to try first

    ## When it is fine

    ## References
    """

    code: ClassVar[str] = "{code}"
    name: ClassVar[str] = "{name}"
    severity: ClassVar[Severity] = "warning"
    status: ClassVar[Literal["stable", "nursery"]] = "nursery"  # off by default, until a planted bug shows it
    needs: ClassVar[tuple[str, ...]] = ()  # readings, as `rldebug metrics` lists them
    follows: ClassVar[tuple[str, ...]] = ()  # codes of what this usually is a consequence of

    def check(self, evidence: Run) -> Iterator[Finding]:
        raise NotEnough("{name} is not written yet")
        yield
'''

TEST = """\
from __future__ import annotations

import pytest

from rldebug.evidence.run import Run
from rldebug.rules.{shelf}.{module} import {class_name}
from tests.judge import fires, quiet


def test_fires_when_{module}() -> None:
    pytest.fail(f"{{{class_name}.code}}: write the smallest evidence of the fault")
    fires({class_name}(), Run.from_series({{"policy/entropy_rel": [0.9, 0.1]}}))


def test_quiet_when_healthy() -> None:
    pytest.fail(f"{{{class_name}.code}}: write the nearest healthy evidence")
    quiet({class_name}(), Run.from_series({{"policy/entropy_rel": [0.9, 0.8]}}))
"""


class Refused(Exception):
    """The entry cannot be written; the message says why."""


def component_prefixes(root: Path) -> dict[str, str]:
    """Component to prefix, as the package has it. That file alone is run: importing the package would need torch."""
    entry = runpy.run_path(str(root / "src" / "rldebug" / "entry.py"))
    return {component: prefix for prefix, component in entry["PREFIXES"].items()}


def declared(root: Path, attribute: str) -> set[str]:
    """Every string that a file of the package assigns to `attribute`, as in `code: ClassVar[str] = "ENT001"`."""
    pattern = re.compile(rf"^\s+{attribute}\s*(?::[^=\n]+)?=\s*[\"']([^\"'\n]+)[\"']", re.MULTILINE)
    files = (root / "src" / "rldebug").rglob("*.py")
    return {value for file in files for value in pattern.findall(file.read_text(encoding="utf-8"))}


def retired(root: Path) -> set[str]:
    tombstones = root / "tests" / "tombstones.txt"
    text = tombstones.read_text(encoding="utf-8") if tombstones.exists() else ""
    return set(re.findall(r"\b[A-Z]{3}\d{3}\b", text))


def next_code(root: Path, prefix: str) -> str:
    taken = {int(code[3:]) for code in declared(root, "code") | retired(root) if re.fullmatch(prefix + r"\d{3}", code)}
    # Oracles count from 101, so rules count on from the highest below that. A gap is never filled: it may be a
    # code that was once published.
    number = 1 + max((n for n in taken if n < 100), default=0)
    if number == 100:
        number = 1 + max(taken)
    if number > 999:
        raise Refused(f"no code is left under {prefix}")
    return f"{prefix}{number:03d}"


def suggestion(component: str, prefixes: dict[str, str]) -> str:
    by_prefix = [name for name, prefix in prefixes.items() if prefix == component.upper()]
    by_spelling = difflib.get_close_matches(component, prefixes, n=1, cutoff=0.5)
    by_start = [name for name in prefixes if name.startswith(component[:3])]
    nearest = by_prefix or by_spelling or by_start
    return f"did you mean {nearest[0]}?" if nearest else "one of: " + ", ".join(prefixes)


def new_rule(root: Path, name: str, component: str) -> tuple[str, list[Path]]:
    """Writes the files; gives the code and what was written."""
    if not name or not component:
        raise Refused("usage: make new rule=entropy-collapse in=entropy")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise Refused(f"{name!r} is not a kebab-case name such as entropy-collapse")
    prefixes = component_prefixes(root)
    if component not in prefixes:
        raise Refused(f"no component is called {component!r}; {suggestion(component, prefixes)}")

    module = name.replace("-", "_")
    shelf = component.replace("-", "_")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    if keyword.iskeyword(module) or keyword.iskeyword(class_name):
        raise Refused(f"{name!r} is a word of Python itself; say the fault in two words")

    rule = root / "src" / "rldebug" / "rules" / shelf / f"{module}.py"
    test = root / "tests" / "rules" / shelf / f"test_{module}.py"
    for file in (rule, test):
        if file.exists():
            raise Refused(f"{file.relative_to(root)} exists already")
    if name in declared(root, "name"):
        raise Refused(f"an entry called {name} exists already; names are unique over all components")

    words = {
        "name": name,
        "module": module,
        "shelf": shelf,
        "class_name": class_name,
        "code": next_code(root, prefixes[component]),
        "sentence": name.replace("-", " ").capitalize(),
    }
    texts = {rule: RULE.format(**words), test: TEST.format(**words)}
    texts |= {each.parent / "__init__.py": "" for each in (rule, test) if not (each.parent / "__init__.py").exists()}
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return words["code"], list(texts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", required=True, metavar="NAME", help="the fault in kebab-case: entropy-collapse")
    parser.add_argument("--in", required=True, metavar="COMPONENT", dest="component", help="the component it blames")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[1], help="the checkout to write into"
    )
    arguments = parser.parse_args()
    try:
        code, written = new_rule(arguments.root, arguments.rule, arguments.component)
    except Refused as refusal:
        print(f"new_entry: {refusal}", file=sys.stderr)
        return 2
    print(f"{code} {arguments.rule}")
    for file in written:
        print(f"  wrote {file.relative_to(arguments.root)}")
    test = next(file for file in written if file.name.startswith("test_")).relative_to(arguments.root)
    print("The test fails until it shows the rule firing and staying quiet:")
    print(f"  .venv/bin/python -m pytest {test}")
    print("Then bring the catalogue up to date, and see that all is well:")
    print("  .venv/bin/python -m rldebug.render.docs")
    print("  .venv/bin/python -m pytest tests/test_catalogue.py")
    print("  make check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
