"""What importing costs and needs: nothing heavy for `import rldebug`, no Gymnasium and no RL library for any module."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
import textwrap

import pytest

import rldebug

HEAVY = ("plotly", "numba", "rich", "typer")
RL = ("gymnasium", "gym", "stable_baselines3", "sb3_contrib", "torchrl", "tensordict", "tianshou", "ray", "ale_py")

# These hold finished programs, and so bring their environments along.
OF_ENVIRONMENTS = (
    "rldebug.demo",
    "rldebug.algos",
    "rldebug.probes",
    "rldebug.integrations",
    "rldebug.train",
    "rldebug.probe",
    "rldebug.climbs",
    "rldebug.sweep",
    "rldebug.script_target",
    "rldebug.side_by_side",
    "rldebug.stepwise",
    "rldebug.env",
    "rldebug.testing",
    "rldebug.symptoms",
    "rldebug.transplant",
    "rldebug.evidence.baseline",
    *(f"rldebug.parts.{name}" for name in ("distributions", "heads", "make", "preprocess", "vector")),
)

ORDERS = (
    "import rldebug; rldebug.Watch",
    "import rldebug; rldebug.diagnose([])",
    "import rldebug.watch",
    "import rldebug.train",
    "from rldebug.watch import Watch",
    "import rldebug.trap",
    "from rldebug.metric import Metric",
)


def python(*flags: str, code: str) -> str:
    """What a fresh interpreter prints; it fails the test with what it said last."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, *flags, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def modules() -> list[str]:
    found = [info.name for info in pkgutil.walk_packages(rldebug.__path__, "rldebug.")]
    return [name for name in found if not name.startswith(OF_ENVIRONMENTS)]


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    """From one interpreter, for torch takes seconds; our own modules are forgotten before each import."""
    return json.loads(
        python(
            "-W",
            "error",
            code=f"""
            import importlib, inspect, json, sys
            import torch, torch.distributions

            class Refuse:
                def find_spec(self, name, path=None, target=None):
                    if name.partition(".")[0] in {RL!r}:
                        raise ModuleNotFoundError(f"{{name}} is out of reach", name=name)

            def forget():
                for each in [each for each in sys.modules if each.partition(".")[0] == "rldebug"]:
                    del sys.modules[each]

            sys.meta_path.insert(0, Refuse())
            before = set(sys.modules)
            import rldebug
            rldebug.watch, rldebug.diagnose, rldebug.read_run
            watching = sorted({{each.partition(".")[0] for each in set(sys.modules) - before}})

            failed = []
            for name in {modules()!r}:
                forget()
                try:
                    importlib.import_module(name)
                except BaseException as error:
                    failed.append(f"{{name}}: {{type(error).__name__}}: {{error}}")

            sys.meta_path.pop(0)  # what trains needs gymnasium
            shadowed = []
            for first in {ORDERS!r}:
                forget()
                exec(first)
                import rldebug
                shadowed += [
                    f"after `{{first}}`, rldebug.{{name}} is a module"
                    for name in rldebug.__all__
                    if inspect.ismodule(getattr(rldebug, name))
                ]
            print(json.dumps({{"watching": watching, "shadowed": shadowed, "failed": failed}}))
            """,
        )
    )


def test_import_rldebug_brings_nothing_heavy():
    loaded = python(
        "-W", "error", code="import sys, rldebug; rldebug.__all__; dir(rldebug); print(*sys.modules)"
    ).split()
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, *RL, "torch", "numpy"}


def test_watching_waits_for_nothing_that_only_prints(told):
    assert "rldebug" in told["watching"]
    assert not set(told["watching"]) & {*HEAVY, *RL}


def test_every_module_imports_alone_without_gymnasium_or_any_rl_library(told):
    assert not told["failed"], "\n".join(told["failed"])


def test_public_names_are_what_they_are_named_for_in_any_order(told):
    """A submodule of the same name binds itself to the package when it is first imported, by whomever."""
    assert not told["shadowed"], "\n".join(told["shadowed"])


def test_everything_works_without_docstrings():
    """-OO strips docstrings and asserts: pages are gone then, but nothing breaks."""
    code = f"""
        import importlib
        for name in {modules()!r}:
            importlib.import_module(name)
        assert False, "asserts are off"
        from rldebug import catalogue
        from rldebug.diagnose import diagnose
        from rldebug.evidence.run import Run
        for entry in (*catalogue.rules(), *catalogue.metrics()):
            entry.summary(), entry.page()
        report = diagnose([Run.from_series({{"policy/entropy_rel": [0.9] * 40}})])
        print("ENT001" in report.to_dict()["checked"], dict(report.broken))
        """
    assert python("-OO", "-W", "error", code=code).strip() == "True {}"
