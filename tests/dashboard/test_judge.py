import json
import subprocess
import sys

import pytest

from rldebug.dashboard.judge import answer

from .conftest import COLLAPSED, SOUND, write_run


def test_it_says_what_is_wrong(root):
    told = answer(write_run(root / "sick", COLLAPSED))
    assert [each["severity"] for each in told["report"]["findings"]]
    assert json.loads(json.dumps(told))["known"]["rules"]
    assert not answer(write_run(root / "sound", SOUND))["report"]["findings"]


def test_a_folder_that_holds_nothing_is_told(root, tmp_path):
    assert "not a run folder" in answer(tmp_path / "nothing")["problem"]
    empty = write_run(root / "empty")
    (empty / "readings.jsonl").write_text("")
    assert "holds no readings" in answer(empty)["problem"]


@pytest.mark.parametrize("name", ["readings.jsonl", "script.jsonl", "run.json", "timing.json"])
def test_a_link_or_a_pipe_is_not_read(root, name):
    folder = write_run(root / "odd")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("/dev/zero")
    assert answer(folder)["problem"] == f"{name} is not a plain file"


def test_what_is_printed_does_not_get_among_the_answers(root):
    code = (
        "import os, rldebug.dashboard.judge as judge\n"
        "def judged(folder):\n"
        "    print('stray'); os.write(1, b'stray')\n"
        "    return {'name': folder.name}\n"
        "judge.judged = judged; judge.main()"
    )
    asked = "".join(json.dumps({"folder": each}) + "\n" for each in ("/a", "/b"))
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, text=True, check=True)
    assert [json.loads(each) for each in done.stdout.splitlines()] == [{}, {"name": "a"}, {"name": "b"}]
