"""`make new`: what it writes, that the written test fails until somebody writes it, and what it refuses."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rldebug import catalogue
from rldebug.entry import PREFIXES

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "new_entry.py"
script = runpy.run_path(str(SCRIPT), run_name="new_entry")
new_rule, next_code, Refused = script["new_rule"], script["next_code"], script["Refused"]


@pytest.fixture
def checkout(tmp_path):
    """A copy of the package, to write into."""
    return copy(tmp_path / "checkout")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """One for the tests in which nothing must be written."""
    return copy(tmp_path_factory.mktemp("sealed") / "checkout")


def copy(root: Path) -> Path:
    shutil.copytree(ROOT / "src" / "rldebug", root / "src" / "rldebug", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests" / "rules").mkdir(parents=True)
    for file in ("tombstones.txt", "__init__.py", "judge.py", "rules/__init__.py"):
        shutil.copy(ROOT / "tests" / file, root / "tests" / file)
    return root


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=root, env=environment, timeout=60
    )


ASKED = """
import runpy, pytest
from rldebug import NotEnough, Run, catalogue
rule = catalogue.find("seed-of-doubt")
print(rule.code, rule.name, rule.component())
try:
    list(rule().check(Run.of([])))
except NotEnough as reason:
    print("not enough:", reason)
for name, test in runpy.run_path("tests/rules/seeding/test_seed_of_doubt.py").items():
    if name.startswith("test_"):
        try:
            test()
        except pytest.fail.Exception as failure:
            print(name, "failed:", failure)
"""


def test_a_rule_and_its_failing_test_are_written(checkout):
    code = next_code(checkout, "SEE")
    done = python(checkout, str(SCRIPT), "--rule", "seed-of-doubt", "--in", "seeding", "--root", str(checkout))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == [
        f"{code} seed-of-doubt",
        "  wrote src/rldebug/rules/seeding/seed_of_doubt.py",
        "  wrote tests/rules/seeding/test_seed_of_doubt.py",
    ]
    assert "fails until" in done.stdout

    rule = checkout / "src" / "rldebug" / "rules" / "seeding" / "seed_of_doubt.py"
    tree = ast.parse(rule.read_text(encoding="utf-8"))
    (written,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert written.name == "SeedOfDoubt"
    headings = [line for line in ast.get_docstring(written).splitlines() if line.startswith("## ")]
    assert headings == [
        f"## {title}"
        for title in (
            "What it checks",
            "Why it matters",
            "Likely causes",
            "What to try first",
            "When it is fine",
            "References",
        )
    ]

    # Nothing else needs an edit: the catalogue has it, and its test fails until somebody writes it.
    asked = python(checkout, "-c", ASKED)
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.splitlines() == [
        f"{code} seed-of-doubt seeding",
        "not enough: seed-of-doubt is not written yet",
        f"test_fires_when_seed_of_doubt failed: {code}: write the smallest evidence of the fault",
        f"test_quiet_when_healthy failed: {code}: write the nearest healthy evidence",
    ]


def test_what_is_written_is_formatted(checkout):
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if ruff is None:
        pytest.skip("ruff is not installed")
    _, written = new_rule(checkout, "an-odd-fault-of-the-buffer", "buffer")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run([ruff, *command, *map(str, written)], capture_output=True, text=True, cwd=checkout)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_component_has_a_shelf_or_gets_one(checkout):
    taken = {rule.code for rule in catalogue.rules()}
    for component in ("entropy", "policy-loss", "checkpoint", "installation"):
        code, written = new_rule(checkout, f"one-more-fault-of-{component}", component)
        assert PREFIXES[code[:3]] == component
        assert code not in taken
        shelf = component.replace("-", "_")
        folder = checkout / "src" / "rldebug" / "rules" / shelf
        assert folder / f"one_more_fault_of_{shelf}.py" in written
        assert (folder / "__init__.py").exists()


def test_codes_go_on_from_the_highest_and_gaps_stay(checkout):
    rules = checkout / "src" / "rldebug" / "rules" / "checkpoint"
    shutil.rmtree(rules)  # as if it had none yet
    assert next_code(checkout, "CKP") == "CKP001"
    rules.mkdir()
    for number in ("003", "101"):  # 101 and on are oracles
        (rules / f"fault_{number}.py").write_text(
            f'class X:\n    code: ClassVar[str] = "CKP{number}"\n', encoding="utf-8"
        )
    assert next_code(checkout, "CKP") == "CKP004"
    with (checkout / "tests" / "tombstones.txt").open("a", encoding="utf-8") as tombstones:
        tombstones.write("CKP004 stale-checkpoint (0.2: was two rules in one)\n")
    assert next_code(checkout, "CKP") == "CKP005"
    (rules / "fault_099.py").write_text('class X:\n    code = "CKP099"\n', encoding="utf-8")
    assert next_code(checkout, "CKP") == "CKP102"
    (rules / "fault_999.py").write_text('class X:\n    code = "CKP999"\n', encoding="utf-8")
    with pytest.raises(Refused, match="no code is left under CKP"):
        next_code(checkout, "CKP")


def test_tombstones_are_codes_at_the_start_of_their_lines():
    """The script takes every code in the file for retired; one in a comment would be retired by mistake."""
    lines = (ROOT / "tests" / "tombstones.txt").read_text(encoding="utf-8").splitlines()
    graves = {line[:6] for line in lines if line and not line.startswith("#")}
    assert script["retired"](ROOT) >= graves
    assert not any(script["retired"](ROOT) & set(line.split()) for line in lines if line.startswith("#"))


def test_two_in_a_row_get_two_codes(checkout):
    first, _ = new_rule(checkout, "one-fault", "checkpoint")
    second, _ = new_rule(checkout, "another-fault", "checkpoint")
    assert (first, second) == ("CKP001", "CKP002")


@pytest.mark.parametrize(
    ("name", "component", "told"),
    [
        ("", "entropy", "usage: make new rule=entropy-collapse in=entropy"),
        ("a-fault", "", "usage: make new rule=entropy-collapse in=entropy"),
        ("AFault", "entropy", "'AFault' is not a kebab-case name such as entropy-collapse"),
        ("a_fault", "entropy", "'a_fault' is not a kebab-case name"),
        ("a fault", "entropy", "is not a kebab-case name"),
        ("-fault", "entropy", "is not a kebab-case name"),
        ("a--fault", "entropy", "is not a kebab-case name"),
        ("../fault", "entropy", "is not a kebab-case name"),
        ("class", "entropy", "'class' is a word of Python itself; say the fault in two words"),
        ("none", "entropy", "'none' is a word of Python itself"),
        ("a-fault", "entorpy", "no component is called 'entorpy'; did you mean entropy?"),
        ("a-fault", "policy_loss", "did you mean policy-loss?"),
        ("a-fault", "ENT", "did you mean entropy?"),
        ("a-fault", "adv", "did you mean advantage?"),
        ("a-fault", "zzz", "no component is called 'zzz'; one of: environment, preprocessing"),
        ("entropy-collapse", "entropy", "src/rldebug/rules/entropy/entropy_collapse.py exists already"),
        ("entropy-collapse", "buffer", "an entry called entropy-collapse exists already; names are unique"),
    ],
)
def test_what_is_refused_and_nothing_is_written(sealed, name, component, told):
    before = sorted(sealed.rglob("*"))
    with pytest.raises(Refused) as refused:
        new_rule(sealed, name, component)
    assert told in str(refused.value)
    assert sorted(sealed.rglob("*")) == before


def test_a_refusal_is_one_line_and_status_2(sealed):
    done = python(sealed, str(SCRIPT), "--rule", "AFault", "--in", "entropy", "--root", str(sealed))
    assert done.returncode == 2
    assert done.stderr == "new_entry: 'AFault' is not a kebab-case name such as entropy-collapse\n"
    assert done.stdout == ""


def test_a_test_that_is_there_already_is_not_overwritten(checkout):
    test = checkout / "tests" / "rules" / "entropy" / "test_a_fault.py"
    test.parent.mkdir(parents=True)
    test.write_text("mine", encoding="utf-8")
    with pytest.raises(Refused, match=r"tests/rules/entropy/test_a_fault\.py exists already"):
        new_rule(checkout, "a-fault", "entropy")
    assert test.read_text(encoding="utf-8") == "mine"
    assert not (checkout / "src" / "rldebug" / "rules" / "entropy" / "a_fault.py").exists()


def test_contributing_tells_how_and_it_works(checkout):
    """The steps of CONTRIBUTING.md, done as they are written there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    name, component = re.search(r"make new rule=([\w-]+) in=([\w-]+)", text).groups()
    code, (rule, test, *_) = new_rule(checkout, name, component)
    body, tests = (textwrap.dedent(each) for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL)[:2])
    written = rule.read_text(encoding="utf-8")
    assert all(each in body for each in ("needs: ClassVar[tuple[str, ...]] = (", "def check(self, evidence: Run)"))
    head = re.sub(r"^    needs: .*\n", "", written[: written.index("    def check(")], flags=re.MULTILINE)
    rule.write_text(head + textwrap.indent(body, "    "), encoding="utf-8")
    head = test.read_text(encoding="utf-8").partition("\n\ndef ")[0].replace("import pytest\n\n", "")
    test.write_text(f"{head}\n\n{tests}", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:rldebug",
        "--rootdir",
        str(checkout),
        str(test),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout, env=environment, timeout=120)
    assert "2 passed" in done.stdout, f"{code}: {done.stdout}{done.stderr}"
