import sys
import threading
import time

import pytest

from rldebug.dashboard.judging import JudgeError, Judging

LOOP = """
import json, os, sys, time
print('{}', flush=True)
for line in sys.stdin:
    name = os.path.basename(json.loads(line)["folder"])
    if name == "die" or (name == "die-once" and not os.path.exists("died")):
        open("died", "w").close()
        os._exit(1)
    if name == "hang":
        time.sleep(60)
    if name == "odd":
        print("[1]", flush=True)
        continue
    answer = {"problem": "broken"} if name == "broken" else {"pid": os.getpid(), "number": float("nan")}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def judging(tmp_path):
    made = Judging([sys.executable, "-c", LOOP], patience=2.0)
    yield made
    made.close()


def test_one_worker_answers_all(judging, tmp_path):
    assert not judging.working
    first, second = judging.ask(tmp_path / "a"), judging.ask(tmp_path / "b")
    assert first["pid"] == second["pid"]
    assert first["number"] != first["number"]  # NaN comes through


def test_what_it_cannot_judge_it_says(judging, tmp_path):
    with pytest.raises(JudgeError, match="broken"):
        judging.ask(tmp_path / "broken")
    with pytest.raises(JudgeError, match="no sense"):
        judging.ask(tmp_path / "odd")


def test_one_that_dies_is_replaced(judging, tmp_path):
    before = judging.ask(tmp_path / "a")
    assert judging.ask(tmp_path / "die-once")["pid"] != before["pid"]
    with pytest.raises(JudgeError, match="died"):
        judging.ask(tmp_path / "die")
    assert judging.ask(tmp_path / "a")


def test_one_that_hangs_is_killed(judging, tmp_path):
    judging.ask(tmp_path / "a")
    judging.patience = 0.3
    with pytest.raises(JudgeError, match="took longer"):
        judging.ask(tmp_path / "hang")
    judging.patience = 30
    assert judging.ask(tmp_path / "a")


def test_it_is_ended_when_nobody_asks(judging, tmp_path):
    judging.ask(tmp_path / "a")
    judging.tidy()
    assert judging.working
    judging.rest = 0.0
    time.sleep(0.01)
    judging.tidy()
    assert not judging.working
    assert judging.ask(tmp_path / "a")


def test_closing_does_not_wait_for_an_answer(judging, tmp_path):
    judging.ask(tmp_path / "a")
    judging.patience = 60
    said = []

    def ask():
        with pytest.raises(JudgeError) as error:
            judging.ask(tmp_path / "hang")
        said.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    judging.close()
    thread.join(10)
    assert said
    assert not judging.working
    with pytest.raises(JudgeError, match="ending"):
        judging.ask(tmp_path / "a")


def test_a_worker_that_cannot_be_started(tmp_path):
    with pytest.raises(JudgeError, match="cannot be started"):
        Judging([str(tmp_path / "nothing")]).ask(tmp_path)
