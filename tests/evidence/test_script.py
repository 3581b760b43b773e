import numpy as np
import pytest

from rldebug.capture.env_log import EnvLog
from rldebug.capture.recording import columns
from rldebug.evidence.script import Audit, Event, Script, decode_audit, encode_audit, read_script


def audit(number=0):
    log = EnvLog(lambda: (0, 0), lambda env: None)
    env = type("Env", (), {})()
    log.reset(env, np.array([0.5, 1.5]), 3, 1)
    log.step(env, 1, np.array([2.0, 3.0]), 1.0, False, True, None)
    events = (
        Event(0, "call", 0, 1, {"module": "net", "acting": True, "line": ["train.py", 3]}, {"rows": np.array([0])}),
        Event(1, "loss", 0, 2, {"value": 0.5, "line": None}),
        Event(2, "term", 0, 2, {"kind": "policy"}, {"weight": np.ones((2, 3), dtype=np.float32)}),
    )
    return Audit(number, 4, 2, 9, columns(log.nodes), events)


def test_an_audit_comes_back_as_it_was():
    before = audit()
    after = decode_audit(encode_audit(before))
    assert (after.number, after.phase, after.update, after.env_step) == (0, 4, 2, 9)
    assert [each.kind for each in after.events] == ["call", "loss", "term"]
    assert after.events[2].arrays["weight"].shape == (2, 3)
    assert after.nodes.truncated.tolist() == [True, False]
    assert after.nodes.action[0].tolist() == [1.0]
    assert np.isnan(after.nodes.action[1])
    assert after.nodes.obs.tolist() == [[0.5, 1.5], [2.0, 3.0]]
    assert str(after.events[0].where) == "train.py:3 · update 0"


def test_terms_belong_to_the_loss_before_them():
    ((loss, terms),) = audit().losses
    assert loss["value"] == 0.5
    assert [each["kind"] for each in terms] == ["policy"]


def test_nodes_are_found_by_id():
    nodes = audit().nodes
    assert nodes.index(np.array([1, 0, 5, -1])).tolist() == [1, 0, -1, -1]
    assert nodes.column("reward", np.array([0])).tolist() == [1.0]


def write(folder, *lines):
    (folder / "audits").mkdir()
    np.savez(folder / "audits" / "00000.npz", **encode_audit(audit()))
    (folder / "script.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_the_last_line_about_a_thing_counts(tmp_path):
    first = '{"thing": "stream", "key": "0", "index": 0, "steps": 1}'
    last = '{"thing": "stream", "key": "0", "index": 0, "steps": 7}'
    script = read_script(write(tmp_path, first, '{"kind": "seed", "value": 3}', last, ""))
    assert [each["steps"] for each in script.streams] == [7]
    assert [each["value"] for each in script.noted("seed")] == [3]
    assert len(script.audits) == 1
    assert not script.problems


def test_damage_is_named_and_left_out(tmp_path):
    folder = write(tmp_path, '{"thing": "counts", "key": "all", "updates": 3}', "[1]", '{"thing": "co')
    (folder / "audits" / "00001.npz").write_bytes(b"PK\x03\x04 cut off")
    (folder / "audits" / "00002.npz").write_bytes(b"")
    script = read_script(folder)
    assert script.counts["updates"] == 3
    assert len(script.audits) == 1
    said = " ".join(script.problems)
    for each in ("line 2", "cut off in writing", "00001.npz", "00002.npz"):
        assert each in said


def test_a_folder_of_a_watched_loop_holds_no_script(tmp_path):
    assert read_script(tmp_path) is None


@pytest.mark.parametrize("empty", [Script(), Script(audits=(audit(),))])
def test_what_is_not_there_is_empty(empty):
    assert empty.modules == {}
    assert empty.optimizers == {}
    assert empty.streams == []
    assert empty.counts == {}
