from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.evidence.run import read_run
from rldebug.evidence.script import Event
from rldebug.follow import handed_over
from tests.programs.policies import ppo
from tests.watched import watched


def term(kind, coefficient=1.0, **arrays):
    columns = {name: np.asarray(each, dtype=np.float32) for name, each in arrays.items()}
    return Event(0, "term", 0, 0, {"kind": kind, "coefficient": coefficient, "clip": None}, columns)


VALUE = term("regression", prediction=[0.0, 1.0], target=[1.0, 0.0])  # the first was better than expected


def test_values_targets_and_advantages_come_from_the_terms_of_a_loss():
    given = handed_over([term("policy", -1.0, logp=[-1, -2], weight=[1, -1]), VALUE])
    assert given["advantage"].tolist() == [1, -1]
    assert given["value"].tolist() == [0, 1]
    assert given["loss"]["value"] == 1.0


def test_a_minus_may_be_in_the_weight():
    given = handed_over([term("policy", 1.0, logp=[-1, -2], weight=[-1, 1]), VALUE])
    assert given["advantage"].tolist() == [1, -1]


def test_a_sign_that_cannot_be_told_is_not_handed_over():
    """Without a minus in the graph it is the weight's or a missing one: not for a rule about advantages."""
    given = handed_over([term("policy", 1.0, logp=[-1, -2], weight=[1, -1]), VALUE])
    assert "advantage" not in given


def test_the_old_log_probs_follow_from_the_ratio():
    given = handed_over([term("policy", -1.0, logp=[-1.0], weight=[1.0], ratio=[np.e])])
    assert given["logp_old"].tolist() == pytest.approx([-2.0])


@pytest.mark.parametrize("terms", [[], [term("other")], [term("entropy", entropy=[0.5])]])
def test_a_loss_that_says_nothing_hands_nothing_over(terms):
    assert handed_over(terms) == {}


def test_a_run_is_filled_from_what_is_seen():
    run, _ = watched(ppo)
    for name in ("grad/norm", "step/log10_ratio", "value/residual_var", "policy/kl", "advantage/mean"):
        assert name in run, name
    assert run.call("update").file is not None
    assert run.meta["state"] == "finished"
    assert run.meta["updates"] == run.meta["steps"][next(iter(run.meta["steps"]))]


def test_environments_in_a_list_are_one_to_train_in():
    def program():
        net = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        envs = [gym.make("CartPole-v1", max_episode_steps=5) for _ in range(3)]
        for _ in range(4):
            for each in envs:
                each.reset(seed=0)
            for _ in range(5):
                for each in envs:
                    each.step(0)
            optimizer.zero_grad()
            net(torch.ones(1, 4)).sum().backward()
            optimizer.step()

    run, script = watched(program)
    assert len(script.streams) == 3
    assert run["episode/count"].value.sum() == 12


def test_layers_and_rewards_are_seen_and_parameters_have_the_names_of_their_networks():
    run, _ = watched(ppo)
    (table,) = {tuple(table) for _, table in run.table("parameters")}
    assert {"policy.0.weight", "critic.0.weight"} <= set(table), "from the first reading on"
    assert all(name.startswith(("policy.", "critic.", "agent.")) for name in table)
    seen = [set(table) for _, table in run.table("layers")]
    assert seen
    assert {"policy.0", "critic.0"} <= seen[-1]
    last = [each for each in run.readings if "histogram/activation/critic.0" in each.histograms][-1]
    assert "histogram/gradient/policy.0.weight" in last.histograms
    rewards = last.histograms["histogram/reward"]
    assert len(rewards) == 34
    assert sum(rewards[2:]) == last.env_step, "all of them, so far"
    assert rewards[0] < 0 < rewards[1]


def test_a_network_that_learns_later_than_the_others_is_seen_too():
    def program():
        env = gym.make("CartPole-v1")
        early, late = nn.Linear(4, 1), nn.Linear(4, 1)
        optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (early, late)]
        obs, _ = env.reset(seed=0)
        for step in range(90):
            obs, _, ended, cut, _ = env.step(step % 2)
            if ended or cut:
                obs, _ = env.reset()
            x = torch.as_tensor(obs).repeat(16, 1)
            for net, optimizer in zip((early, late), optimizers, strict=True):
                if net is early or step > 24:
                    optimizer.zero_grad()
                    (net(x) - 1.0).square().mean().backward()
                    optimizer.step()

    run, _ = watched(program)
    assert set(run.meta["modules"]) == {"early", "late"}
    assert set(run.table("layers")[-1][1]) == {"early", "late"}


# ── to the end of the program ───────────────────────────────────────────────────────────────────────────────────────


def slow(monkeypatch, seconds):
    """Clocks of a program whose every update takes `seconds`, and of which a look takes longer than there is time."""
    clock = {"now": 0.0, "spent": 0.0}

    def look():
        clock["spent"] += 1.0
        return clock["spent"]

    fake = SimpleNamespace(monotonic=lambda: clock["now"], thread_time=look, process_time=lambda: 0.0)
    monkeypatch.setattr("rldebug.follow.time", fake)
    monkeypatch.setattr("rldebug.collect.time", fake)
    return lambda: clock.update(now=clock["now"] + seconds)


def episodes(updates, tick=lambda: None, after=0):
    """Episodes of five steps, an update after each, and `after` more at the end."""

    def program():
        torch.manual_seed(77)
        env = gym.make("CartPole-v1", max_episode_steps=5)
        net = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for k in range(updates + after):
            env.reset(seed=0)
            for _ in range(5):
                env.step(0)
            if k < updates:
                tick()
                optimizer.zero_grad()
                net(torch.ones(1, 4)).sum().backward()
                optimizer.step()

    return program


def test_where_there_is_no_time_for_readings_episodes_and_pace_are_told_to_the_end(monkeypatch):
    run, _ = watched(episodes(300, slow(monkeypatch, 0.3), after=7), overhead_budget=0.0)
    full = run["grad/norm"]
    assert len(full) < 100
    assert full.update[-1] < 100, "there was time for some at first"
    updates = [each.update for each in run.readings]
    assert updates == sorted(set(updates))
    late = [each for each in run.readings if each.update > 100]
    assert 40 < len(late) < 60, "one a second"
    assert all({"episode/return_mean", "pace/updates"} <= each.numbers.keys() for each in late[:-1])
    assert not any(each.tables or each.histograms or "grad/norm" in each.numbers for each in late)
    assert all(each.env_step == 5 * (each.update + 2) for each in late[:-1]), "the next episode has been played, too"
    assert late[3].numbers["pace/updates"] == pytest.approx(1 / 0.3)
    assert run.readings[-1].env_step == 5 * 307
    assert run["episode/count"].value.sum() == 307
    assert run["episode/steps"].value.sum() == 5 * 307


def test_a_program_of_a_week_has_a_few_thousand_lines(monkeypatch):
    week = 7 * 24 * 3600
    run, _ = watched(episodes(600, slow(monkeypatch, week / 600)), overhead_budget=0.0)
    late = [each for each in run.readings if each.update > 100]
    gaps = np.diff([each.update for each in late[:-1]])
    assert 300 < len(late) < 330
    assert gaps[0] == 1 < gaps[-1] == 3, "a 256th of the time so far, at least"


def test_nothing_is_told_twice_where_every_update_is_read():
    run, _ = watched(episodes(30, after=2))
    assert run["episode/count"].value.sum() == 32
    assert len(run["grad/norm"]) == len(run.readings)


def test_what_is_pending_waits_for_a_line_of_its_own(tmp_path):
    from rldebug.collect import Collector
    from rldebug.record import Recorder, Schedule

    record = Recorder(tmp_path / "run", {}, Schedule())
    collector = Collector({}, {}, gym.make("CartPole-v1"), ())
    collector.start(record)
    record.number("loss/policy", torch.tensor(1.0))
    collector.age = 3
    collector.write_counts(2)
    collector.write_counts(2)
    record.flush(3, 0)
    collector.stop()
    record.close()
    counted, own = read_run(tmp_path / "run").readings
    assert set(counted.numbers) == {"pace/updates"}
    assert own.numbers == {"loss/policy": 1.0}


def test_run_json_tells_of_the_program_while_it_runs(tmp_path, monkeypatch):
    torch.manual_seed(5)
    told = []
    tick = slow(monkeypatch, 4.0)

    def look():
        told.append(read_run(tmp_path / "run").meta)
        tick()

    watched(episodes(40, look), folder=tmp_path / "run")
    assert (told[0]["seed"], told[0]["modules"]) == (5, {}), "what was known when it began"
    last = told[-1]
    assert (last["state"], last["seed"], last["env"]["id"]) == ("running", 77, "CartPole-v1")
    assert last["optimizers"] == {"optimizer": "SGD"}
    assert last["modules"] == {"Linear": 10}
    assert 36 <= last["updates"] < 40
    assert 10 < len({each.get("updates") for each in told}) < 20, "every ten seconds"
