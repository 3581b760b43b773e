import pkgutil
import subprocess
import sys
from importlib.metadata import version

import rldebug.commands  # noqa: F401  so that it is in sys.modules: `rldebug` below is the fixture


def test_help_lists_every_file_of_the_package(rldebug):
    said = rldebug("--help")
    assert said.status == 0
    for info in pkgutil.iter_modules(sys.modules["rldebug.commands"].__path__):
        assert info.name in said.out


def test_help_waits_for_nothing_heavy():
    code = (
        "import sys\nfrom rldebug.commands import main\n"
        "try: main(['--help'])\n"
        "finally: assert not {'torch', 'numpy', 'plotly', 'numba', 'gymnasium'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_version(rldebug):
    assert rldebug("--version").out == f"rldebug {version('rldebug')}\n"


def test_an_unknown_command_or_option_is_a_usage_error(rldebug):
    for arguments in (["nonsense"], ["report", "--nonsense"], ["diff", "one"], ["explain"]):
        said = rldebug(*arguments)
        assert said.status == 2
        assert said.err
        assert not said.out


def test_a_bug_of_ours_is_called_one(rldebug, monkeypatch):
    monkeypatch.setattr("rldebug.catalogue.metrics", None)
    said = rldebug("metrics")
    assert said.status == 2
    assert said.err == (
        "rldebug: this is a bug in rldebug, not in your program: TypeError: 'NoneType' object is not callable "
        "(RLDEBUG_TRACEBACK=1 shows where)\n"
    )


def test_an_error_in_the_users_own_code_is_theirs(rldebug, monkeypatch):
    def theirs():
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(sys.modules["rldebug.commands.metrics"], "metrics", theirs)
    said = rldebug("metrics")
    assert said.status == 2
    assert said.err.startswith("rldebug: ZeroDivisionError: by nothing (")
    assert "test_main.py:" in said.err
