"""What a small actor-critic leaves behind, made by hand: an actor, two critics and their targets, a temperature.

Each keyword is one thing that may be done wrong. Networks are fixed linear maps, so every number is known exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.evidence.script import Audit, Event, Nodes, Script

STEPS, WIDE, ELEMENTS, ROWS = 160, 3, 2, 32
GAMMA, ALPHA = 0.9, 0.2
BOUND = 1.0


def script(**how: Any) -> Script:
    audits = [_Story(number, **how).audit() for number in range(int(how.get("audits", 2)))]
    owners = {"q1": {"q_opt": 4}, "q2": {"q_opt": 4}, "actor": {"pi_opt": 4}}
    modules = {
        name: {
            "owners": owners.get(name, {}),
            "acting": 40 if name == "actor" else 0,
            "calls": 40,
            "tensors": 4,
            "trainable": 4,
            "layers": {},
            "inside": None,
            "line": ["train.py", 1],
        }
        for name in ("actor", "q1", "q2", "q1_t", "q2_t")
    }
    for name in how.get("layers", ()):  # critics that the actor's loss asks by a method, which calls their layers
        for part in ("body", "head"):
            inside = {**modules[name], "inside": name, "layers": {"Linear": 1}}
            modules[f"{name}.{part}"] = {**inside, "inside": None} if how.get("unnamed") else inside
    optimizers = {
        name: {"modules": held, "steps": steps, "zeros": 50, "numel": 5000, "class": "Adam", "settings": {},
               "lr_first": rate, "lr_highest": rate, "created": ["train.py", 2]}
        for name, held, steps, rate in (
            ("q_opt", {"q1": 4, "q2": 4}, 50, how.get("rate", 1e-3)),
            ("pi_opt", {"actor": 4}, 50, 1e-3),
            ("alpha_opt", {}, how.get("alpha_steps", 50), 1e-3),
        )
    }  # fmt: skip
    follow = how.get("follow", {"q1_t": "q1", "q2_t": "q2"})
    copies = {
        f"{name}<-{source}": {"module": name, "source": source, "how": "in place", "times": 6,
                              "updates": [3, 6, 9, 12], "taus": [0.01] * 4, "line": None}
        for name, source in follow.items()
    }  # fmt: skip
    facts = {"action_space": "Box", "action_low": [-BOUND] * ELEMENTS, "action_high": [BOUND] * ELEMENTS}
    stream = {"index": 0, "name": "Boat", "steps": STEPS, "lanes": 1, "facts": facts}
    return Script(audits, {"module": modules, "optimizer": optimizers, "copy": copies, "stream": {"0": stream}}, (), {})


class _Story:
    """One audit: acting, then a few updates."""

    def __init__(self, number: int, **how: Any) -> None:
        self.how, self.number = how, number
        self.random = np.random.default_rng(7 + number)
        fixed = np.random.default_rng(3)
        self.policy = 0.6 * fixed.normal(size=(WIDE, ELEMENTS))
        self.critics = {name: fixed.normal(size=WIDE + ELEMENTS) for name in ("q1", "q2", "q1_t", "q2_t")}
        if how.get("twins"):
            self.critics["q2"] = self.critics["q1"]
        self.critics |= {f"{name}.body": self.critics[name] for name in how.get("layers", ())}
        self.events: list[Event] = []
        self.update = 100 * number
        self.task = 1000 * number
        self.log_alpha = 0.1 - 0.02 * number

    # ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, kind: str, detail: dict[str, Any], **arrays: Any) -> int:
        self.events.append(Event(len(self.events), kind, self.update, 0, detail, arrays))
        return len(self.events) - 1

    def act(self, obs: np.ndarray) -> np.ndarray:
        return np.tanh(obs @ self.policy)

    def ask(self, name: str, ids: np.ndarray, action: np.ndarray, grad: bool, through: bool = False) -> Any:
        values = np.concatenate([self.obs[ids], action], axis=1) @ self.critics[name]
        detail = {
            "module": name, "training": True, "grad": grad, "acting": False, "match": "raw", "line": ["train.py", 9],
            "inputs": [{"shape": [ROWS, WIDE], "dtype": "torch.float32", "attached": False},
                       {"shape": [ROWS, ELEMENTS], "dtype": "torch.float32", "attached": through}],
            "outputs": [{"shape": [ROWS, 1], "dtype": "torch.float32", "attached": grad}], "returns": "Tensor",
        }  # fmt: skip
        order = self.say(
            "call", detail, rows=ids, input=self.obs[ids], input1=action.astype(np.float32), output0=values[:, None]
        )
        return order, values

    def ask_layers(self, name: str, ids: np.ndarray, action: np.ndarray, through: bool) -> tuple[int, int, np.ndarray]:
        """What `name.value(obs, action)` leaves behind: its first layer, then its last."""
        order, values = self.ask(f"{name}.body", ids, action, grad=True, through=through)
        given = np.concatenate([self.obs[ids], action], axis=1).astype(np.float32)
        body = self.events.pop()
        inputs = [{"shape": [ROWS, WIDE + ELEMENTS], "dtype": "torch.float32", "attached": through}]
        outputs = [{"shape": [ROWS, 8], "dtype": "torch.float32", "attached": True}]
        hidden = np.repeat(values[:, None], 8, axis=1)
        self.say("call", {**body.detail, "inputs": inputs, "outputs": outputs}, rows=ids, input=given, output0=hidden)
        one = [{"shape": [ROWS, 1], "dtype": "torch.float32", "attached": True}]
        detail = {**body.detail, "module": f"{name}.head", "match": "tag", "inputs": outputs, "outputs": one}
        return order, self.say("call", detail, rows=ids, input=hidden, output0=values[:, None]), values

    def ask_actor(self, ids: np.ndarray, grad: bool, acting: bool = False) -> tuple[int, np.ndarray]:
        action = self.act(self.obs[ids])
        if self.how.get("saturated"):
            action = np.sign(action)
        detail = {
            "module": "actor", "training": True, "grad": grad, "acting": acting, "match": "raw",
            "line": ["train.py", 5],
            "inputs": [{"shape": [len(ids), WIDE], "dtype": "torch.float32", "attached": False}],
            "outputs": [{"shape": [len(ids), ELEMENTS], "dtype": "torch.float32", "attached": grad}],
            "returns": "Tensor",
        }  # fmt: skip
        return self.say("call", detail, rows=ids, input=self.obs[ids], output0=action), action

    def gradient(self, name: str, call: int, gradient: np.ndarray) -> None:
        self.say("gradient", {"module": name, "of": call, "output": 0, "task": self.task}, gradient=gradient)

    # ── the whole ───────────────────────────────────────────────────────────────────────────────────────────────────

    def audit(self) -> Audit:
        count = STEPS
        self.obs = self.random.normal(size=(count, WIDE)).astype(np.float32)
        ids = np.arange(count, dtype=np.int64)
        said = self.act(self.obs)
        noise = self.how.get("noise", lambda random, shape: 0.1 * random.normal(size=shape))
        bound = self.how.get("cut_off", BOUND)
        self.action = np.clip(said + noise(self.random, said.shape), -bound, bound)
        self.reward = self.random.normal(size=count)
        for each in range(0, count, 4):
            self.ask_actor(ids[each : each + 1], grad=False, acting=True)
        for _ in range(int(self.how.get("updates", 4))):
            self.learn(ids)
        return Audit(self.number, 0, 100 * self.number, 0, self.nodes(ids), tuple(self.events))

    def nodes(self, ids: np.ndarray) -> Nodes:
        whole, flags = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=bool)
        last = ids == ids[-1]
        return Nodes(
            id=ids, stream=whole, lane=whole, call=ids, phase=whole, update=whole, reward=self.reward,
            terminated=flags, truncated=flags, phantom=flags, first=ids == 0, acted=~last, action=self.action,
            nxt=np.minimum(ids + 1, ids[-1]), succ=np.minimum(ids + 1, ids[-1]), alike=whole, obs=self.obs,
            obs_stats=np.zeros((len(ids), 4)),
        )  # fmt: skip

    def learn(self, ids: np.ndarray) -> None:
        how = self.how
        rows = self.random.choice(len(ids) - 2, ROWS, replace=False).astype(np.int64)
        stored = (how.get("unit", 1.0) * self.action[rows]).astype(np.float32)
        _, next_action = self.ask_actor(rows if how.get("present_action") else rows + 1, grad=False)
        if how.get("drawn"):
            next_action = self.draw(next_action)
        smooth = how.get("smooth")
        if smooth is not None:
            next_action = next_action + smooth(self.random, next_action.shape)
        if how.get("old_action"):
            next_action = stored
        asked = [self.ask(name, rows + 1, next_action, grad=False)[1] for name in ("q1_t", "q2_t")]
        after = {"one": asked[0], "larger": np.maximum(*asked)}.get(how.get("target", ""), np.minimum(*asked))
        if how.get("soft"):
            after = after - ALPHA * self.next_log_prob()
        target = self.reward[rows] + GAMMA * after
        made = [self.ask(name, rows, stored, grad=True) for name in ("q1", "q2")]
        self.say("loss", _loss(["q1", "q2"]))
        if how.get("twice"):
            made[1] = made[0]
        for name, (_, values) in zip(("q1", "q2"), made, strict=True):
            self.say("term", _term("regression", "mse", [name]), prediction=values, target=target, rows=rows)
        self.task += 1
        for name, (call, values) in zip(("q1", "q2"), made, strict=True):
            self.gradient(name, call, (values - target)[:, None] / ROWS)
        self.step("q_opt")
        self.learn_actor(rows, stored)
        if how.get("temperature"):
            self.learn_temperature(rows)
        for name, (keep, take) in how.get("blend", {}).items():
            self.say("blend", {"module": name, "source": name[:2], "keep": keep, "take": take, "residual": 1e-6})

    def draw(self, mean: np.ndarray) -> np.ndarray:
        drawn = mean + self.random.normal(size=mean.shape)
        self.say(
            "sample", {"dist": "Normal"}, result=drawn, orders=np.full(ROWS, len(self.events)),
            updates=np.full(ROWS, self.update),
        )  # fmt: skip
        return np.asarray(np.tanh(drawn))

    def next_log_prob(self) -> np.ndarray:
        logs = self.random.normal(size=(ROWS, ELEMENTS))
        self.say(
            "logp", {"dist": "Normal", "shape": [ROWS, ELEMENTS], "attached": False}, result=logs,
            orders=np.full(ROWS, len(self.events)), updates=np.full(ROWS, self.update),
        )  # fmt: skip
        return np.asarray(logs.sum(axis=1))

    def learn_actor(self, rows: np.ndarray, stored: np.ndarray) -> None:
        how = self.how
        call, action = self.ask_actor(rows, grad=True)
        names = how.get("judges", ("q1", "q2"))
        through = not how.get("cut")
        if "sample" in how:
            action = how["sample"](self.random, action)
        layered = how.get("layers", ())
        given = action if through else stored
        bodies, asked = {}, []
        for name in names:
            if name in layered:
                bodies[name], head, values = self.ask_layers(name, rows, given, through)
                asked.append((head, values))
            else:
                asked.append(self.ask(name, rows, given, grad=True, through=through))
        values = np.stack([each for _, each in asked])
        chosen = (np.argmax if how.get("actor") == "larger" else np.argmin)(values, axis=0)
        terms = [_term("output", "mean", ["actor", *names] if through else list(names), coefficient=-1.0)]
        factor = how.get("factor", ALPHA)
        if factor is not None:
            terms.insert(0, _term("output", "logp", ["actor"], coefficient=factor, attached={"action": True}))
        self.say("loss", _loss(["actor", *names]))
        for term in terms:
            self.say("term", term, rows=rows)
        self.task += 1
        sign = 1.0 if how.get("actor") == "low" else -1.0
        for place, (name, (order, _)) in enumerate(zip(names, asked, strict=True)):
            pushed = sign * (chosen == place)[:, None] / ROWS
            self.gradient(f"{name}.head" if name in bodies else name, order, pushed)
            if name in bodies:
                self.gradient(f"{name}.body", bodies[name], pushed * self.random.normal(size=(ROWS, 8)))
        self.gradient("actor", call, self.random.normal(size=(ROWS, ELEMENTS)))
        self.step("pi_opt")

    def learn_temperature(self, rows: np.ndarray) -> None:
        drawn = self.random.normal(size=(ROWS, ELEMENTS))
        logs = -0.5 * drawn**2 - 0.9
        self.say(
            "logp", {"dist": "Normal", "shape": [ROWS, ELEMENTS], "attached": False}, value=drawn, result=logs,
            orders=np.full(ROWS, len(self.events)),
        )  # fmt: skip
        mean = float((logs.sum(axis=1) - np.log(1 - np.tanh(drawn) ** 2 + 1e-6).sum(axis=1)).mean())
        mean = mean / ELEMENTS if self.how.get("averaged") else mean
        sign = 1.0 if self.how["temperature"] == "wrong" else -0.5 if self.how.get("halved") else -1.0
        gradient = sign * (mean + self.how.get("target_entropy", -ELEMENTS))
        before = self.log_alpha
        self.log_alpha -= 1e-3
        self.say(
            "scalar",
            {"optimizer": "alpha_opt", "before": [before], "gradient": [gradient], "after": [self.log_alpha],
             "line": ["train.py", 30]},
        )  # fmt: skip

    def step(self, optimizer: str) -> None:
        change = self.how.get("change", 0.005)
        self.say("step", {"optimizer": optimizer, "change": change, "grad_norm": 1.0, "line": ["train.py", 20]})
        self.update += 1


def _loss(reached: list[str]) -> dict[str, Any]:
    return {"value": 1.0, "how": "backward", "reached": reached, "asked": 0, "frozen": [], "line": ["train.py", 12]}


def _term(kind: str, op: str, reached: list[str], **more: Any) -> dict[str, Any]:
    plain = {"coefficient": 1.0, "reduction": "mean", "rows": ROWS, "attached": {}, "cut": False, "match": "raw"}
    shapes = {"prediction": [ROWS], "target": [ROWS]} if kind == "regression" else {}
    return {**plain, "kind": kind, "op": op, "reached": reached, "shapes": shapes, "line": ["train.py", 12], **more}
