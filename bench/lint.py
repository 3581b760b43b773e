"""How often `rldebug lint` is wrong: on the sources of Stable-Baselines3, CleanRL, TorchRL, Tianshou, and on our own.

    python bench/lint.py [--show] [--only NAME] [FOLDER …]

These libraries are used and tested by many: what is reported there counts as a false warning, unless the docs
(docs/how-to/lint.md) tell why it stands. Notes do not count. Also how long it takes.

The bar: at most one warning or error in 5 000 lines of each. Exits 1 when it is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from pathlib import Path

from rldebug import catalogue
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.source import Source, SourceError, python_files, read_source
from rldebug.finding import Finding

LINES = 5000  # of code, in which one false warning is borne
PEERS = ("stable_baselines3", "sb3_contrib", "cleanrl", "torchrl", "tensordict", "tianshou")


def folders(given: list[str]) -> dict[str, Path]:
    if given:
        return {Path(each).name: Path(each) for each in given}
    found = {"rldebug": Path(__file__).resolve().parents[1] / "src" / "rldebug"}
    for name in PEERS:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found[name] = Path(next(iter(spec.submodule_search_locations)))
    return found


def sources(folder: Path) -> list[Source]:
    found = []
    # Named file by file: below site-packages, folders are passed over.
    for file in python_files(sorted(folder.rglob("*.py"))):
        try:
            found.append(read_source(file))
        except SourceError as error:
            print(error, file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print what is reported, notes too")
    parser.add_argument("--only", help="one rule, by code or name")
    parser.add_argument("folders", nargs="*", help="other folders than those of the libraries")
    options = parser.parse_args()
    config = Config(select=(options.only,) if options.only else ())
    missed, every = [], Counter[str]()
    print(f"{'sources of':24} {'files':>6} {'lines':>8} {'warnings':>9} {'notes':>6} {'per 5 000':>10} {'seconds':>8}")
    with catalogue.narrowed(frozenset({"Source"})):
        for name, folder in folders(options.folders).items():
            begin = time.process_time()
            read = sources(folder)
            findings: list[Finding] = []
            for each in read:
                report = diagnose([each], config=config)
                findings += report.findings
                for code, trace in report.broken.items():
                    print(f"{each.file}: {code} is broken\n{trace}", file=sys.stderr)
                    missed.append(name)
            lines = sum(len(each.lines) for each in read)
            bad = [each for each in findings if each.severity != "note"]
            every.update(f"{each.code} {each.name}" for each in bad)
            share = len(bad) * LINES / max(lines, 1)
            took = time.process_time() - begin
            print(
                f"{name:24} {len(read):6} {lines:8} {len(bad):9} {len(findings) - len(bad):6} {share:10.2f} {took:8.1f}"
            )
            if share > 1:
                missed.append(name)
            if options.show:
                for one in findings:
                    print(f"    {one.where}  {one.severity} {one.code} {one.name}: {one.message}\n        {one.seen}")
    for told, count in every.most_common():
        print(f"    {count:4} × {told}")
    if missed:
        print(f"missed: more than one warning in {LINES} lines, or a rule broke: {', '.join(dict.fromkeys(missed))}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
