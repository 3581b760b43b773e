import json

import numpy as np
import pytest
import torch
from torch import nn

import rldebug
from rldebug.evidence.ladder import Ladder, Rung
from rldebug.probe import climb_ladder, hangs_on_gamma, program, report_on
from rldebug.probes.shelf import ProbeError, find, probes
from rldebug.target import TargetError
from tests.probes.tabular import Tabular

FIVE = [each.name for each in probes()[:5]]


class Undeclared:
    """Only what the protocol needs."""

    def __init__(self, make_env, **more):
        self._inner = Tabular(make_env, **more)
        self.learn, self.q = self._inner.learn, self._inner.q


def outcomes(ladder):
    return {each.name: each.outcome for each in ladder.rungs}


def test_a_sound_agent_passes_and_the_report_is_clean():
    report = rldebug.probe(Tabular, probes=FIVE)
    assert report.command == "probe"
    assert report.clean, report.findings
    assert report.exit == 0
    assert [each["outcome"] for each in report.program["rungs"]] == ["passed"] * 5
    assert report.program["declared"]["gamma"] == 0.9


def test_a_rung_that_fails_is_an_exit_status_and_what_stands_on_it_is_not_run():
    ladder = climb_ladder(lambda make_env: Tabular(make_env, wrong="blind"), probes=FIVE)
    assert outcomes(ladder) == {
        "constant-reward": "passed",
        "observed-reward": "failed",
        "delayed-reward": "not run",
        "action-reward": "passed",
        "observed-action-reward": "failed",
    }
    assert report_on(ladder).exit == 1


def test_the_whole_ladder_where_it_is_wanted():
    blind = climb_ladder(
        lambda make_env: Tabular(make_env, wrong="blind"), probes=["observed-reward", "delayed-reward"], whole=True
    )
    assert blind["delayed-reward"].attempts


# ── γ ──


def test_gamma_is_read_off_where_nobody_says_it():
    ladder = climb_ladder(lambda make_env: Undeclared(make_env, gamma=0.7, lr=0.2), probes=["delayed-reward"])
    assert "gamma" not in ladder.declared
    rung = ladder["delayed-reward"]
    assert rung.outcome == "passed", rung.reason
    assert rung.right[0] == pytest.approx(0.7, abs=0.02)


def test_what_hangs_on_a_gamma_that_nobody_knows_for_sure_is_left_out():
    ladder = climb_ladder(
        lambda make_env: Undeclared(make_env, gamma=0.97, lr=0.2), probes=["delayed-reward", "truncated-episode"]
    )
    assert outcomes(ladder) == {"delayed-reward": "passed", "truncated-episode": "not applicable"}
    assert "say gamma" in ladder["truncated-episode"].reason
    assert hangs_on_gamma(find("truncated-episode"), 0.99, {})
    assert not hangs_on_gamma(find("constant-reward"), 0.99, {})


def test_a_gamma_that_is_given_counts_as_declared():
    given = climb_ladder(lambda make_env: Undeclared(make_env, gamma=0.7, lr=0.2), probes=["delayed-reward"], gamma=0.7)
    assert given["delayed-reward"].outcome == "passed"
    assert program(given)["declared"] == {"gamma": 0.7}
    assert program(given)["gamma_expected_from"] == "declared"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"gamma": 1.5}, "gamma is 1.5"),
        ({"seeds": 0}, "seeds is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"jobs": 0}, "jobs"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_arguments_out_of_range(given, expected):
    with pytest.raises(TargetError, match=expected):
        climb_ladder(Tabular, **{"probes": ["constant-reward"], **given})


def test_no_such_probe():
    with pytest.raises(ProbeError, match="no probe called constant-rewards"):
        climb_ladder(Tabular, probes=["constant-rewards"])


# ── a network, and the report ──


class TinyQ:
    """Q-learning with a network, by hand."""

    gamma, n_step = 0.9, 1

    def __init__(self, make_env, seed):
        torch.manual_seed(seed)
        self.env = make_env()
        self.obs, _ = self.env.reset(seed=seed)
        self.net = nn.Linear(len(self.obs), int(self.env.action_space.n))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.02)

    def learn(self, steps):
        for _ in range(steps):
            action = self.env.action_space.sample()
            seen, reward, terminated, truncated, _ = self.env.step(action)
            with torch.no_grad():
                target = reward + self.gamma * (not terminated) * self.net(torch.as_tensor(seen)).max()
            loss = (self.net(torch.as_tensor(self.obs))[action] - target).square()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.obs = self.env.reset()[0] if terminated or truncated else seen

    def q(self, obs):
        return self.net(torch.as_tensor(obs))


def test_answers_with_a_graph_are_read_and_threads_are_given_back():
    threads = torch.get_num_threads()
    ladder = climb_ladder(TinyQ, probes=["observed-reward", "observed-action-reward"])
    assert torch.get_num_threads() == threads
    assert set(outcomes(ladder).values()) == {"passed"}, ladder
    assert ladder.rungs[0].attempts[0].updates > 100


def test_the_program_is_plain_json_without_nan():
    rung = Rung(
        "odd", 1, "odd", "value", "failed", "no", looks=("a",), right=np.array([np.nan]), matched=("sign-flipped",)
    )
    told = program(Ladder("x", (rung,), {"gamma": np.float64(0.5), "n_step": np.int64(1)}, gamma=float("nan")))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["gamma"] is None
    assert told["rungs"][0]["right"] == [None]
    assert told["declared"] == {"gamma": 0.5, "n_step": 1}
