import argparse
import copy
import json
import pickle
import textwrap

import pytest

from rldebug.capture import arguments
from tests.capture.fake import listening

PROGRAM = """
def step(args):
    return args.lr * 2
"""


@pytest.fixture
def program(monkeypatch):
    monkeypatch.setattr(arguments, "user_sources", lambda: {"train.py": textwrap.dedent(PROGRAM)})


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--lr", type=float, default=1e-3)
    made.add_argument("--gamma", type=float, default=0.99)
    return made


def test_options_are_told_with_what_is_read_of_them(program):
    with listening(arguments) as session:
        parser().parse_args(["--gamma", "0.9"])
    told = {each["name"]: each for each in session.noted("option")}
    assert (told["gamma"]["value"], told["gamma"]["default"], told["gamma"]["read"]) == (0.9, 0.99, 0)
    assert told["lr"]["read"] == 1
    assert told["gamma"]["line"][0].endswith("test_arguments.py")


def test_the_namespace_is_what_argparse_made(program):
    with listening(arguments):
        args = parser().parse_args([])
        known, rest = parser().parse_known_args(["--else", "1"])
    assert type(args) is argparse.Namespace
    assert vars(args) == {"lr": 1e-3, "gamma": 0.99}
    assert known == args
    assert rest == ["--else", "1"]
    assert copy.deepcopy(args) == pickle.loads(pickle.dumps(args)) == args
    assert json.loads(json.dumps(vars(args))) == vars(args)


def test_subcommands_are_told_once(program):
    made = argparse.ArgumentParser()
    below = made.add_subparsers(dest="command").add_parser("train")
    below.add_argument("--lr", type=float)
    with listening(arguments) as session:
        made.parse_args(["train", "--lr", "3"])
    assert sorted(each["name"] for each in session.noted("option")) == ["command", "lr"]


def test_a_parser_that_exits_leaves_the_next_one_watched(program):
    with listening(arguments) as session:
        with pytest.raises(SystemExit):
            parser().parse_args(["--lr", "much"])
        parser().parse_args([])
    assert len(session.noted("option")) == 2


def test_the_programs_own_files_are_found(monkeypatch):
    monkeypatch.setattr(arguments, "_FILES", 100_000)
    monkeypatch.setattr(arguments, "_LARGE", 1 << 30)
    sources = arguments.user_sources()
    assert any(file.endswith("test_arguments.py") for file in sources)
    assert not any("site-packages" in file or file.endswith("argparse.py") for file in sources)
