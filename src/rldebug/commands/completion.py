"""rldebug completion: what a shell needs to complete commands, options, rules and runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
source <(rldebug completion bash)                # also for ~/.bashrc
rldebug completion zsh > "${fpath[1]}/_rldebug"  # for every zsh
rldebug completion fish > ~/.config/fish/completions/rldebug.fish
"""

SHELLS = ("bash", "zsh", "fish")
RUNS = Path(".rldebug") / "runs"
_CODE = re.compile(r'"([A-Z]{3}\d{3})"')
_ENTRY = re.compile(r'^    name(?:: ClassVar\[str\])? = "([a-z0-9-]+)"$|"[A-Z]{3}\d{3}", "([a-z0-9-]+)"', re.M)
_ORACLE = re.compile(r'^    name="([a-z0-9-]+)",$', re.M)
_METRIC = re.compile(r'^@metric\(\s*"([\w/]+)"', re.M)


class ShellError(Exception):
    """A shell that is not known; the message says which are."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", autocompletion=lambda: SHELLS)],
) -> None:
    """Print a script that completes rldebug in your shell.

    Commands, options, codes and names of rules (explain, --select, --ignore) and runs under .rldebug/runs are
    completed; where there is nothing to say, files. The script calls rldebug, so it need not be made anew after an
    update.

    Exit status: 0 printed, 2 the shell is not known.
    """
    if shell not in SHELLS:
        raise ShellError(f"{shell!r} is not a shell that is known here: expected {', '.join(SHELLS)}")
    from typer.completion import get_completion_script  # type: ignore[attr-defined,unused-ignore]

    typer.echo(get_completion_script(prog_name="rldebug", complete_var="_RLDEBUG_COMPLETE", shell=shell))


# ── what is completed ───────────────────────────────────────────────────────────────────────────────────────────────
# Read from the text of the shelves: to import them would make a user wait for torch at every Tab.


def rules(incomplete: str) -> list[str]:
    """Codes of rules, or their names, whichever is being written."""
    texts = list(_texts("rules", "oracles"))
    if incomplete[:1].isupper():
        return sorted({code for text in texts for code in _CODE.findall(text) if code.startswith(incomplete)})
    names = {name for text in texts for pair in _ENTRY.findall(text) for name in pair if name}
    names |= {f"{name}-mismatch" for text in texts for name in _ORACLE.findall(text)}
    return sorted(name for name in names if name.startswith(incomplete))


def entries(incomplete: str) -> list[str]:
    """All that has a page: rules, metrics and probes."""
    metrics = {name for text in _texts("metrics") for name in _METRIC.findall(text)}
    probes = {name for text in _texts("probes/envs") for pair in _ENTRY.findall(text) for name in pair if name}
    return rules(incomplete) + sorted(name for name in metrics | probes if name.startswith(incomplete))


def runs(incomplete: str) -> list[str]:
    """Names of runs, the one that was written to last first."""
    found = [each for each in RUNS.iterdir() if (each / "run.json").is_file()] if RUNS.is_dir() else []
    found.sort(key=lambda each: each.stat().st_mtime, reverse=True)
    return [each.name for each in found if each.name.startswith(incomplete)]


def _texts(*shelves: str) -> Iterator[str]:
    package = Path(__file__).parents[1]
    for shelf in shelves:
        for file in sorted((package / shelf).rglob("*.py")):
            yield file.read_text(encoding="utf-8")
