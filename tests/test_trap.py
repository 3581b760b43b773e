"""Traps: a rule or a predicate that stops the run where it first holds, or keeps it."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import rldebug
from rldebug import catalogue, trap
from rldebug.evidence.run import read_run
from rldebug.rule import Rule

BAD_AT = 5


def train(tmp_path, traps, updates=12, bad=math.nan, after=False, **more):
    """The gradient of update 5 is `bad`. Returns the watch, and the update the loop came to."""
    torch.manual_seed(0)
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    done = []
    dbg = rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True, traps=traps, **more)

    def loop():
        with dbg:
            for k in range(updates):
                loss = net(torch.ones(4, 3)).mean() * (bad if k == BAD_AT else 1.0)
                if not after:
                    dbg.update(loss=loss)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if after:
                    dbg.update(loss=loss)
                done.append(k)

    return dbg, loop, done, net


def no_gradient(numbers):
    """First holds for the update with the bad gradient, and ever after: the weights are gone."""
    return not math.isfinite(numbers.get("grad/norm", 0.0) + numbers.get("weight/norm", 0.0))


@pytest.mark.parametrize("after", [False, True], ids=["update-first", "step-first"])
def test_raise_stops_where_it_first_holds(after, tmp_path):
    dbg, loop, done, _ = train(tmp_path, {no_gradient: "raise"}, after=after)
    with pytest.raises(rldebug.Tripped, match="no-gradient") as caught:
        loop()
    assert done[-1] == BAD_AT - 1  # in update() where the step comes first, else in the step itself
    assert f"update {BAD_AT}" in str(caught.value)
    run = read_run(dbg.path)
    assert run.meta["state"] == "crashed"
    assert run.meta["error"].startswith("Tripped: ")
    assert run.readings[BAD_AT].numbers["grad/norm"] != run.readings[BAD_AT].numbers["grad/norm"]
    assert "no-gradient" in (dbg.path / "findings.jsonl").read_text()
    assert not dbg.broken, dbg.broken


def test_every_update_is_looked_at_while_a_trap_is_set(tmp_path):
    """However long the run: what is kept thins out, what a trap looks at does not."""
    seen = []
    trap = {lambda numbers: seen.append(numbers) or False: "raise"}
    dbg, loop, _, _ = train(tmp_path, trap, updates=400, after=True)
    loop()
    assert len(seen) == 400
    assert all({"loss/total", "grad/norm", "weight/norm"} <= set(each) for each in seen)
    assert not dbg.broken
    run = read_run(dbg.path)
    assert 80 < len(run.readings) < 200
    assert run["pace/updates"].update.tolist() == [each.update for each in run.readings]


def test_a_trap_springs_on_an_update_that_is_not_kept(tmp_path):
    def late(numbers):
        return numbers.get("user/mine") == 1397.0

    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    dbg = rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True, traps={late: "snapshot"})
    for k in range(1500):
        dbg.metric("mine", k)
        net(torch.ones(4, 3)).mean().backward()
        optimizer.step()
        dbg.update(loss=1.0)
    dbg.close()
    assert [file.name for file in (dbg.path / "snapshots").iterdir()] == ["late-1397.npz"]
    run = read_run(dbg.path)
    assert 1397 not in [each.update for each in run.readings]
    assert run["user/mine"].value.tolist() == run["user/mine"].update.tolist()


def test_snapshot_keeps_weights_and_gradients(tmp_path, capsys):
    dbg, loop, done, net = train(tmp_path, {no_gradient: "snapshot"}, after=True)
    loop()
    assert done[-1] == 11, "the training goes on"
    files = list((dbg.path / "snapshots").iterdir())
    assert [file.name for file in files] == [f"no-gradient-{BAD_AT}.npz"], "one, although it holds ever after"
    with np.load(files[0], allow_pickle=False) as kept:
        assert sorted(kept) == ["policy.bias", "policy.bias.grad", "policy.weight", "policy.weight.grad"]
        assert kept["policy.weight"].shape == (1, 3)
        assert np.isnan(kept["policy.weight.grad"]).all()
    assert str(files[0]) in capsys.readouterr().err
    assert read_run(dbg.path).meta["state"] == "finished"
    assert net.weight.isnan().all()


def test_snapshot_is_of_that_moment(tmp_path):
    weights = []

    def third(numbers):
        weights.append(net.weight.detach().clone())
        return len(weights) == 3

    dbg, loop, _, net = train(tmp_path, {third: "snapshot"}, after=True)
    loop()
    with np.load(dbg.path / "snapshots" / "third-2.npz", allow_pickle=False) as kept:
        assert np.array_equal(kept["policy.weight"], weights[2].numpy())


def test_pdb_stops_in_the_users_own_frame(tmp_path, monkeypatch, capsys):
    stops = []

    class Debugger:
        def set_trace(self, frame):
            stops.append((frame.f_code.co_name, frame.f_code.co_filename, frame.f_locals["k"]))

    monkeypatch.setattr(trap, "_debugger", Debugger)
    _, loop, done, _ = train(tmp_path, {no_gradient: "pdb"}, after=True)
    loop()
    assert stops == [("loop", __file__, BAD_AT)]
    assert "no-gradient" in capsys.readouterr().err
    assert done[-1] == 11


def test_a_predicate_that_raises_is_listed_and_harms_nobody(tmp_path):
    def typo(numbers):
        return numbers["grad/nrom"] > 1

    dbg, loop, done, _ = train(tmp_path, {typo: "raise", no_gradient: "snapshot"}, after=True)
    loop()
    assert done[-1] == 11
    assert [key for key in dbg.broken if "typo" in key]
    assert list((dbg.path / "snapshots").iterdir()), "the other trap is still set"


def test_a_predicate_without_a_name(tmp_path):
    class Predicate:
        def __call__(self, numbers):
            return True

    _, loop, _, _ = train(tmp_path, {Predicate(): "raise"}, after=True)
    with pytest.raises(rldebug.Tripped, match="predicate"):
        loop()


def test_a_trap_on_a_rollout(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True, traps={lambda n: n.get("reward/max", 0) > 5: "raise"}) as dbg:
        dbg.rollout(reward=torch.ones(4))
        with pytest.raises(rldebug.Tripped):
            dbg.rollout(reward=torch.ones(4) * 6)


TRAPS = [rule for rule in catalogue.rules() if rule.trap]


@pytest.mark.parametrize("rule", TRAPS, ids=lambda each: each.name)
def test_every_rule_that_says_so_can_be_a_trap(rule, tmp_path):
    for name in (rule.name, rule.code):
        dbg, loop, done, _ = train(tmp_path, {name: "raise"}, bad=1.0)
        loop()
        assert done[-1] == 11, "and stays quiet on a sound loop"
        assert not dbg.broken, dbg.broken


@pytest.mark.parametrize("name", ["nonfinite-gradient", "nonfinite-loss", "nonfinite-weight"])
def test_nonfinite_traps_spring_at_the_first(name, tmp_path):
    dbg, loop, _, _ = train(tmp_path, {name: "raise"}, after=True)
    with pytest.raises(rldebug.Tripped, match=name):
        loop()
    assert dbg.age == BAD_AT + 1


def test_what_cannot_be_a_trap_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="'explode' is not an action"):
        train(tmp_path, {no_gradient: "explode"})
    with pytest.raises((KeyError, ValueError, LookupError), match="no-such-rule"):
        train(tmp_path, {"no-such-rule": "raise"})
    other = next(rule for rule in catalogue.rules() if not rule.trap)
    with pytest.raises(ValueError, match=rf"{other.name} cannot be a trap"):
        train(tmp_path, {other.name: "raise"})
    metric = catalogue.metric_named("grad/norm")
    with pytest.raises((KeyError, ValueError, LookupError)):
        train(tmp_path, {metric.name: "raise"})
    assert not list(tmp_path.iterdir())


def test_traps_are_rules_of_a_run():
    for rule in TRAPS:
        assert issubclass(rule, Rule)
        assert rule.reads == "Run"


def test_a_snapshot_on_a_full_disk(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    dbg, loop, done, _ = train(tmp_path, {no_gradient: "snapshot"}, after=True)
    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        loop()
    assert done[-1] == 11
    assert list(dbg.broken) == ["recorder"]
