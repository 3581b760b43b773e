import importlib
import pkgutil

from rldebug import capture
from rldebug.capture.shelf import FILES
from rldebug.capture.switch import GROUPS, Switchboard
from tests.capture.fake_session import FakeSession

HELPERS = {"loss_terms", "clipping", "schedules", "children", "kept"}  # installed by the file that they belong to


def test_every_file_that_installs_hooks_is_on_the_shelf():
    modules = [
        importlib.import_module(f"rldebug.capture.{each.name}") for each in pkgutil.iter_modules(capture.__path__)
    ]
    installing = {each.__name__.rpartition(".")[2] for each in modules if callable(getattr(each, "install", None))}
    assert installing - HELPERS == FILES.keys()


def test_every_group_has_a_file_and_every_file_a_group():
    assert {*FILES.values(), "networks"} == GROUPS.keys()


def test_a_group_that_is_left_out_is_not_installed(monkeypatch):
    from rldebug.capture import seeds, shelf

    session = FakeSession()
    session.switch = Switchboard(without=("seeds",))
    monkeypatch.setattr(shelf, "FILES", {"seeds": "seeds"})
    monkeypatch.setattr(seeds, "install", lambda session: 1 / 0)
    shelf.install_all(session)
    assert session.switch.broken == {}
    session.switch = Switchboard()
    shelf.install_all(session)
    assert "ZeroDivisionError" in session.switch.broken["capture/seeds"]
