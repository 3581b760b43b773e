"""Command lines as they stand in help and prose: taken apart as a shell would, and parsed as rldebug would."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator

import typer

from rldebug.commands import application

_ENDS = re.compile(r"[|;&()]+|<\(")  # what ends a command
_REDIRECTS = re.compile(r"[<>&]+")
_BEFORE = re.compile(r"\$|\w+=.*")  # a prompt; OMP_NUM_THREADS=1


def rldebug_lines(text: str) -> Iterator[list[str]]:
    """The words after `rldebug`, of each call in a text of shell lines; without pipes, redirections and comments."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        lexer.commenters = ""  # a # within a word is none
        try:
            words = list(lexer)
        except ValueError:  # prose with one quotation mark
            continue
        yield from _calls(words)


def _calls(words: list[str]) -> Iterator[list[str]]:
    call: list[str] = []
    skip = False
    for word in [*words, ";"]:
        if skip:
            skip = False
        elif _ENDS.fullmatch(word) or word.startswith("#"):
            yield from _of_rldebug(call)
            call = []
            if word.startswith("#"):
                return
        elif _REDIRECTS.fullmatch(word):
            skip = True
            if call and call[-1] == "2":  # 2>&1
                call.pop()
        else:
            call.append(word)


def _of_rldebug(call: list[str]) -> Iterator[list[str]]:
    while call and _BEFORE.fullmatch(call[0]):
        call = call[1:]
    if call[:1] == ["rldebug"]:
        yield call[1:]
    elif call[:1] == ["torchrun"] and "rldebug" in call:
        yield call[call.index("rldebug") + 1 :]


@functools.cache
def group() -> typer.core.TyperGroup:
    return typer.main.get_command(application())


def name_check(words: list[str]) -> None:
    """A mention, as `rldebug run --graph`: the command and its options exist, whatever is left out."""
    command = group().commands.get(words[0]) if words else None
    assert command is not None or not words or words[0].startswith("-"), f"rldebug has no command {words[0]}"
    known = {name for each in getattr(command, "params", ()) for name in (*each.opts, *each.secondary_opts)}
    for word in words[1:]:
        if word == "--" or (words[0] in ("run", "profile") and not word.startswith("-")):
            return  # what comes is the program's own; or the value of an option
        if word.startswith("--"):
            assert word.partition("=")[0] in {*known, "--help"}, f"rldebug {words[0]} has no option {word}"


def parse(words: list[str]) -> None:
    """As `rldebug WORDS` is parsed, running nothing; raises what it would complain of."""
    words = [each for each in words if each not in ("-h", "--help")]
    if not words or words == ["--version"]:
        return
    assert words[0] in group().commands, f"rldebug has no command {words[0]}: rldebug {' '.join(words)}"
    try:
        group().commands[words[0]].make_context(words[0], list(words[1:]))
    except Exception as error:
        raise AssertionError(f"rldebug {' '.join(words)}: {error}") from error
