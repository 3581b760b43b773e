"""Through module hooks: the layers of a training pass, now and then; and compiled networks are left alone."""

import pytest
import torch
from torch import nn

import rldebug
from rldebug.evidence.run import read_run
from rldebug.metrics.activation import GRADIENT_COLUMNS, LAYER_COLUMNS
from tests.bystander import NoWatch, same_weights


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(inplace=True), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 1))


def train(net, watch, forward=None, updates=12, rows=32, **more):
    """Acts with single rows, learns from batches."""
    torch.manual_seed(1)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    forward = forward or net
    with watch(policy=net, optimizer=opt, **more) as dbg:
        for _ in range(updates):
            with torch.no_grad():
                forward(torch.randn(1, 4))
            loss = (forward(torch.randn(rows, 4)) - 1.0).square().mean()
            dbg.update(loss={"value": loss})
            opt.zero_grad()
            loss.backward()
            opt.step()
    return dbg


def test_layers_are_those_of_the_training_pass(tmp_path):
    net = network()
    seen = []
    net[2].register_forward_hook(lambda layer, args, output: seen.append(output.detach().clone()))
    dbg = train(net, rldebug.watch, folder=tmp_path, quiet=True, every=1, detail=1)
    assert not dbg.broken, dbg.broken
    tables = read_run(dbg.path).table("layers")
    assert [reading.update for reading, _ in tables] == [*range(8), 9, 11], "later batch and network take turns"
    for reading, table in tables:
        batch = seen[2 * reading.update + 1]  # the one before it was acting
        row = dict(zip(LAYER_COLUMNS, table["policy.2"], strict=True))
        assert row["mean"] == pytest.approx(batch.mean().item(), rel=1e-4)
        assert row["std"] == pytest.approx(batch.std(correction=0).item(), rel=1e-4)
        assert row["absmax"] == pytest.approx(batch.abs().max().item(), rel=1e-4)
        assert list(table) == [f"policy.{i}" for i in range(5)]
    assert len(net[2]._forward_hooks) == 1, "the user's own hook stays"


def test_gradients_at_layers_are_those_of_the_training_pass(tmp_path):
    net = network()
    seen = []
    net[2].register_full_backward_hook(lambda layer, back, out: seen.append(out[0].detach().clone()))
    dbg = train(net, rldebug.watch, folder=tmp_path, quiet=True, every=1, detail=1)
    assert not dbg.broken, dbg.broken
    tables = read_run(dbg.path).table("layer_gradients")
    assert [reading.update for reading, _ in tables] == [*range(8), 9, 11]
    for reading, table in tables:
        row = dict(zip(GRADIENT_COLUMNS, table["policy.2"], strict=True))
        assert row["norm"] == pytest.approx(seen[reading.update].norm().item(), rel=1e-4)
        assert row["absmax"] == pytest.approx(seen[reading.update].abs().max().item(), rel=1e-4)
        assert list(table) == [f"policy.{i}" for i in (4, 3, 2, 1, 0)], "as they come back"


def test_an_inplace_activation_does_not_change_what_was_seen(tmp_path):
    net = network()
    dbg = train(net, rldebug.watch, updates=1, folder=tmp_path, quiet=True)
    layers = read_run(dbg.path).table("layers")[0][1]
    assert layers["policy.0"][0] < layers["policy.1"][0], "before the rectifier the mean is lower"


def test_hooks_are_on_only_when_a_reading_needs_them(tmp_path):
    net = network()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    hooked = []
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True) as dbg:
        for _ in range(1500):
            hooked.append(bool(net[0]._forward_hooks))
            loss = net(torch.randn(4, 4)).square().mean()
            dbg.update(loss=loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
    assert sum(hooked[-1000:]) < 100
    assert not net[0]._forward_hooks


# ── torch.compile ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def dynamo():
    torch._dynamo.reset()
    yield torch._dynamo.utils.counters
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


class Compiles:
    """A backend that runs the graph as it is, and counts how often it is asked to compile."""

    def __init__(self):
        self.count = 0

    def __call__(self, graph, inputs):
        self.count += 1
        return graph.forward


@pytest.mark.parametrize("how", ["wrapped", "in-place", "only-called"])
def test_compiled_networks(how, dynamo, tmp_path):
    """The wrapper handed over; a module compiled in place; the plain module handed over, and its wrapper called."""
    results = []
    for watch, more in ((NoWatch, {}), (rldebug.watch, {"folder": tmp_path, "quiet": True, "every": 1, "detail": 1})):
        torch._dynamo.reset()
        dynamo.clear()
        net, backend = network(), Compiles()
        forward = None
        if how == "wrapped":
            net = torch.compile(net, backend=backend, dynamic=False)
        elif how == "in-place":
            net.compile(backend=backend, dynamic=False)
        else:
            forward = torch.compile(net, backend=backend, dynamic=False)
        dbg = train(net, watch, forward, updates=12, **more)
        results.append((net, backend.count, dict(dynamo["graph_break"]), dict(dynamo["recompiles"])))
    bare, watched = results
    assert not dbg.broken, dbg.broken
    assert same_weights(bare[0], watched[0])
    assert watched[1:] == bare[1:], "compiled again, or in other pieces, because of us"
    run = read_run(dbg.path)
    assert len(run["grad/norm"]) == 12
    assert run.meta["compiled"] == ([] if how == "only-called" else ["policy"])
    assert not run.table("layers"), "inside a compiled network nothing is seen"


def test_a_compiled_network_is_listed_in_what_could_not_be_checked(dynamo, tmp_path):
    net = torch.compile(network(), backend="eager")
    report = train(net, rldebug.watch, folder=tmp_path, quiet=True).close()
    reasons = [reason for reason in report.skipped.values() if "layers" in reason or "compile" in reason]
    assert reasons


# ── trouble ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Strange(nn.Module):
    """Layers that put out tuples, dictionaries, vectors, integers and nothing at all."""

    class Leaf(nn.Module):
        def __init__(self, what):
            super().__init__()
            self.what = what

        def forward(self, x):
            return self.what(x)

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        things = (lambda x: (x, x), lambda x: {"x": x}, lambda x: x[0], lambda x: None, lambda x: (x > 0).long())
        self.leaves = nn.ModuleList([self.Leaf(each) for each in things])
        self.rnn = nn.GRU(4, 4)

    def forward(self, x):
        x = self.body(x)
        for each in self.leaves:
            each(x)
        return self.rnn(x[None])[0][0]


def test_layers_that_put_out_something_else(tmp_path):
    dbg = train(Strange(), rldebug.watch, folder=tmp_path, quiet=True, every=1, detail=1)
    assert not dbg.broken, dbg.broken
    assert "policy.body" in read_run(dbg.path).table("layers")[0][1]


def test_a_network_under_vmap_is_left_alone(tmp_path):
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for _ in range(4):
            x = torch.randn(3, 8, 4)
            out = torch.vmap(net, randomness="different")(x)
            loss = out.square().mean()
            dbg.update(loss=loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
    assert not dbg.broken, dbg.broken


def test_a_hook_that_fails_is_switched_off_for_good(tmp_path, monkeypatch):
    from rldebug.capture import modules

    calls = []

    def fail(*args):
        calls.append(args)
        raise ValueError("inside rldebug")

    monkeypatch.setattr(modules, "min", fail, raising=False)
    net = network()
    dbg = train(net, rldebug.watch, folder=tmp_path, quiet=True, every=1, detail=1)
    assert list(dbg.broken) == ["activation hook"]
    assert "inside rldebug" in dbg.broken["activation hook"]
    assert len(calls) == 1
    assert len(read_run(dbg.path).readings) == 12
