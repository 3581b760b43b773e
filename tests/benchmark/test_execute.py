import os
import time

import pytest

from rldebug.benchmark.execute import run_python

# The workers of the benchmark have no threads; those of pytest-xdist do, and newer Pythons warn of forking them.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def run(tmp_path, text, **how):
    (tmp_path / "program.py").write_text(text)
    return run_python(["program.py", "--seed", "3"], tmp_path, **{"cpu_seconds": 5, **how})


@pytest.mark.parametrize("forked", [False, True])
def test_a_program_that_ends_says_what_it_printed(tmp_path, forked):
    (tmp_path / "beside.py").write_text("WORD = 'hello'")
    ended = run(
        tmp_path,
        "import os, sys, beside\nprint(__name__, sys.argv[1:], beside.WORD, os.path.realpath(os.getcwd()))\n",
        forked=forked,
    )
    assert ended.status == "ended"
    assert ended.out.split() == ["__main__", "['--seed',", "'3']", "hello", os.path.realpath(tmp_path)]
    assert {each.name for each in tmp_path.iterdir()} <= {"program.py", "beside.py", "__pycache__"}


@pytest.mark.parametrize("forked", [False, True])
def test_a_program_that_raises_says_what_and_where(tmp_path, forked):
    ended = run(tmp_path, "import json\n\ndef load():\n    json.loads('{')\n\nload()\n", forked=forked)
    assert (ended.status, ended.error) == ("raised", "JSONDecodeError")
    assert ended.line(tmp_path) == ("program.py", 4)


@pytest.mark.parametrize("forked", [False, True])
def test_the_exception_that_counts_is_the_last_of_a_chain(tmp_path, forked):
    text = "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('worse') from error\n"
    ended = run(tmp_path, text, forked=forked)
    assert ended.error == "ValueError"
    assert ended.line(tmp_path) == ("program.py", 4)


@pytest.mark.parametrize("forked", [False, True])
def test_what_a_program_does_at_its_end_is_done(tmp_path, forked):
    text = "import atexit\natexit.register(print, 'closed')\nprint('open')\nraise ValueError\n"
    assert run(tmp_path, text, forked=forked).out.split() == ["open", "closed"]


@pytest.mark.parametrize("forked", [False, True])
def test_an_exit_status_is_kept(tmp_path, forked):
    assert run(tmp_path, "import sys\nsys.exit(4)\n", forked=forked).code == 4
    assert run(tmp_path, "import sys\nsys.exit('no')\n", forked=forked).err.strip() == "no"
    assert run(tmp_path, "import sys\nsys.exit()\n", forked=forked).status == "ended"


@pytest.mark.parametrize("forked", [False, True])
def test_a_program_that_computes_for_ever_is_stopped(tmp_path, forked):
    ended = run(tmp_path, "while True: pass\n", cpu_seconds=0.5, wall_seconds=30, forked=forked)
    assert ended.status == "stopped"


def test_a_program_that_waits_for_ever_is_stopped_with_what_it_started(tmp_path):
    text = "import subprocess, time\nprint(subprocess.Popen(['sleep', '60']).pid, flush=True)\ntime.sleep(60)\n"
    ended = run(tmp_path, text, wall_seconds=1.5)
    assert ended.status == "stopped"
    child, until = int(ended.out), time.monotonic() + 10
    while _alive(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_lies_beside_a_program_goes_before_what_is_loaded_already(tmp_path, monkeypatch):
    import json

    monkeypatch.setattr(json, "WHO", "installed", raising=False)
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").write_text("WHO = 'beside'\n")
    assert run(tmp_path, "import json\nprint(json.WHO)\n", forked=True).out == "beside\n"


def test_a_fork_does_not_share_random_numbers_drawn_at_import(tmp_path):
    text = "import numpy, torch\nprint(numpy.random.rand(), torch.rand(()).item())\n"
    first, second = (run(tmp_path, text, forked=True).out.split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize("forked", [False, True])
def test_what_is_run_as_a_module_is_the_main_module_to_its_end(tmp_path, forked):
    (tmp_path / "package.py").write_text(
        "import atexit, sys\nhere = globals()\natexit.register(lambda: print(vars(sys.modules['__main__']) is here))\n"
    )
    ended = run_python(["-m", "package"], tmp_path, cpu_seconds=5, forked=forked)
    assert ended.out == "True\n"
