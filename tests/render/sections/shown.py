"""A run with something in every section, and one whose every word is hostile."""

import json
import math

from rldebug.evidence.run import Reading, Run
from rldebug.finding import Finding, Report, Where
from rldebug.render.known import Known, MetricNote, RuleNote
from rldebug.render.shown import Shown

HOSTILE = '"></script><img src=x onerror=alert(1)><svg onload=alert(2)>'
PNG = b"\x89PNG\r\n\x1a\n"
COLUMNS = {
    "parameters": ("grad_norm", "grad_absmax", "zero_rows", "step_norm", "weight_norm", "weight_mean", "weight_std"),
    "layers": ("mean", "std", "absmax", "dead", "saturated"),
    "layer_gradients": ("norm", "absmax", "without"),
}


def run(word="policy", readings=40, path=None, shift=0.0):
    return Run.of(
        [
            Reading(
                update=i,
                env_step=i * 10,
                seconds=float(i),
                numbers={f"{word}/kl": 0.01 * i, "episode/return_mean": i + shift, "loss/policy": 0.1 * i},
                histograms={
                    f"histogram/{word}": [-1.0, 1.0 + i, *range(32)],
                    f"histogram/weight/{word}.0": [0, i + 1, 1, 2, 3],
                },
                tables={
                    "parameters": {f"{word}.0.weight": [10.0 ** (-i % 4), 0.2, 0.0, 0.001, 1.0, 0.0, 0.1]},
                    "layers": {f"{word}.0": [0.1, 0.2, 0.3, math.nan, math.nan]},
                    "layer_gradients": {f"{word}.0": [0.1, 0.2, 0.0]},
                },
                traces={"trace/value": [0.1, 0.2], "trace/reward": [0.0, 1.0], "trace/end": [0.0, 1.0]},
            )
            for i in range(readings)
        ],
        {"name": word, "state": "finished", "env": {"id": word}, "versions": {word: word}},
        path=path,
    )


def shown(word="policy", path=None, **more):
    finding = Finding(
        "ENT001", word, "entropy", "warning", word, word, word, word, 0.9, where=Where(word, 2, update=5, env_step=50)
    )
    setting = dict.fromkeys(("name", "given_as", "yours", "reference", "verdict"), word) | {"line": 3, "same": False}
    missing = [{"name": word, "value": word, "reason": word}]
    given = {
        "report": Report("report", (finding,), ("ENT001",), {"TGT001": word}, {word: word}, problems=(word,)),
        "known": Known(
            {f"{word}/kl": MetricNote(word, word, word)},
            {"ENT001": RuleNote(word, word, (f"{word}/kl",), word)},
            COLUMNS,
        ),
        "graph": "<svg><text>loss</text></svg>",
        "settings": {"algorithm": word, "env": word, "rows": [setting, {**setting, "same": True}], "missing": missing},
        "source": {word: ["one", word, "three"]},
        "state": word,
    }
    return Shown(run(word, path=path, shift=more.pop("shift", 0.0)), **{**given, **more})


def pictures(folder, word="policy"):
    """What a run keeps of what networks are given, and of the agent playing."""
    side = {"shape": [4], "dtype": word, "min": -1.0, "max": 1.0, "mean": 0.5, "std": 0.1}
    at = {"update": 3, "env_step": 30, "seconds": 0.1}
    (folder / "frames").mkdir(parents=True)
    (folder / "clips").mkdir()
    for name in ("frames/000001-before.png", "frames/000001-after.png", "clips/000001.png", "clips/000001-first.png"):
        (folder / name).write_bytes(PNG)
    looks = [
        {"n": 1, **at, "source": "network", "name": word}
        | {which: {**side, "png": f"000001-{which}.png"} for which in ("before", "after")},
        {"n": 2, **at, "source": "preprocess", "name": word}
        | {which: {**side, "values": [0.5, -1.0, math.nan]} for which in ("before", "after")},
    ]
    (folder / "frames" / "index.jsonl").write_text("".join(json.dumps(each) + "\n" for each in looks))
    clip = {"n": 1, **at, "return": 9.0, "length": 12, "frames": 12, "fps": 15, "width": 300, "height": 200}
    clip |= {"file": "000001.png", "poster": "000001-first.png", "env": word, "ended": word}
    (folder / "clips" / "index.jsonl").write_text(json.dumps(clip) + "\n")
    return folder
