"""`rldebug COMMAND --help`: what it does, its options, examples that can be typed, exit status, where to read on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug import catalogue
from tests.commands.typed import group, parse, rldebug_lines

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = sorted(group().commands)


def told(rldebug, *words):
    said = rldebug(*words)
    assert said.status == 0
    return said.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page_of_help(rldebug, command):
    text = told(rldebug, command, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert "\b" not in text
    summary, _, rest = text.partition("\n\n")[2].partition("\n\n")
    assert summary.strip().endswith(".")
    assert "Exit status: " in rest
    assert "Read more: docs/" in rest or command == "completion"
    for page in re.findall(r"Read more: docs/(\S+)", rest):
        assert (DOCS / page).is_file()
    assert "\x1b" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_its_examples_can_be_typed(rldebug, command):
    text = told(rldebug, command, "--help").partition("Examples:\n")[2].partition("Read more:")[0]
    lines = list(rldebug_lines(text))
    assert 2 <= len(lines) <= 4
    for words in lines:
        assert words[0] == command
        parse(words)
    for name in re.findall(r"(?:--select|--ignore|explain) ([\w/-]+)", text):
        assert catalogue.find(name)


@pytest.mark.parametrize(
    "words", [["lint", "--nonsense", "x.py"], ["lint"], ["nonsense"], ["train", "ppo", "--seed", "x"]]
)
def test_what_cannot_be_typed_is_noticed(words):
    with pytest.raises(AssertionError, match=r"nonsense|Missing|a valid integer"):
        parse(words)


def test_lines_of_a_shell_are_taken_apart():
    text = (
        "python train.py 2>&1 | rldebug explain  # comment\n"
        '$ OMP_NUM_THREADS=1 rldebug run "a b.py" > log && rldebug report\n'
        "torchrun --nproc-per-node 2 -m rldebug run train.py\n"
        "source <(rldebug completion bash)\nit's rldebug\nmake demo\n"
        "rldebug verify gae f.py:f \\\n    --map reward=x\n"
    )
    assert list(rldebug_lines(text)) == [
        ["explain"],
        ["run", "a b.py"],
        ["report"],
        ["run", "train.py"],
        ["completion", "bash"],
        ["verify", "gae", "f.py:f", "--map", "reward=x"],
    ]


def test_the_list_of_commands_is_not_cut_short(rldebug):
    text = told(rldebug, "-h")
    assert "..." not in text.partition("Commands:")[2]
    assert max(map(len, text.splitlines())) <= 80
    for words in rldebug_lines(text.partition("Examples:")[2]):
        parse(words)


def test_h_is_help_also_before_a_program_and_never_after(rldebug, tmp_path):
    assert told(rldebug, "run", "-h") == told(rldebug, "run", "--help")
    script = tmp_path / "says.py"
    script.write_text("import sys\nprint('its own', *sys.argv[1:])\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "rldebug", "run", "--quiet", "says.py", "-h"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "its own -h\n")
