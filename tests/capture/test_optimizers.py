"""Through optimizer hooks: what a step did, whether gradients were cleared before it, and how noisy they are."""

import functools
import math

import numpy as np
import pytest
import torch
from torch import nn

import rldebug
from rldebug.evidence.run import read_run

OPTIMIZERS = {
    "sgd": functools.partial(torch.optim.SGD, lr=0.01, momentum=0.9),
    "rmsprop": functools.partial(torch.optim.RMSprop, lr=1e-3),
    "adam": functools.partial(torch.optim.Adam, lr=1e-3),
    "adam-fused": functools.partial(torch.optim.Adam, lr=1e-3, fused=True),
    "adamw-foreach": functools.partial(torch.optim.AdamW, lr=1e-3, foreach=True),
}


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))


def loss_of(net, rows=32):
    return (net(torch.randn(rows, 4)) - 1.0).square().mean()


def read(dbg):
    dbg.close()
    assert not dbg.broken, dbg.broken
    return read_run(dbg.path)


# ── were the gradients cleared? ─────────────────────────────────────────────────────────────────────────────────────


def to_none(net, optimizer):
    optimizer.zero_grad(set_to_none=True)


def in_place(net, optimizer):
    optimizer.zero_grad(set_to_none=False)


def by_module(net, optimizer):
    net.zero_grad()


def by_hand(net, optimizer):
    for each in net.parameters():
        each.grad = None


def through_data(net, optimizer):
    for each in net.parameters():
        if each.grad is not None:
            each.grad.data.zero_()  # moves no version counter


def never(net, optimizer):
    pass


CLEARING = {each.__name__: each for each in (to_none, in_place, by_module, by_hand, through_data, never)}


def zeroing_of(tmp_path, loop, **watched):
    """The verdicts of a run of `loop(dbg, k)`."""
    with rldebug.watch(folder=tmp_path, quiet=True, every=1, **watched) as dbg:
        for k in range(6):
            loop(dbg, k)
    return [fact for _, fact in read(dbg).facts("zeroing")]


@pytest.mark.parametrize(("micro_batches", "clip"), [(1, False), (1, True), (3, True)], ids=["", "clip", "micro-clip"])
@pytest.mark.parametrize("at_the_end", [False, True], ids=["before", "at-the-end"])
@pytest.mark.parametrize("clear", CLEARING)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_clearing_is_seen_however_it_is_done(optimizer, clear, at_the_end, micro_batches, clip, tmp_path):
    net = network()
    opt = OPTIMIZERS[optimizer](net.parameters())

    def loop(dbg, k):
        if not at_the_end:
            CLEARING[clear](net, opt)
        for _ in range(micro_batches):
            loss = loss_of(net)
            loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        opt.step()
        if at_the_end:
            CLEARING[clear](net, opt)
        dbg.update(loss=loss)

    verdicts = zeroing_of(tmp_path, loop, policy=net, optimizer=opt)
    assert verdicts
    assert all(each == {"optimizer": clear != "never"} for each in verdicts), verdicts


@pytest.mark.parametrize("clear", ["to_none", "in_place", "through_data"])
def test_an_actor_loss_that_leaves_gradients_in_the_critic_is_no_fault(clear, tmp_path):
    """SAC: the actor's backward pass accumulates into the critic, which is cleared before its own."""
    actor, critic = nn.Linear(4, 2), nn.Linear(2, 1)
    opts = {"actor": torch.optim.Adam(actor.parameters()), "critic": torch.optim.Adam(critic.parameters())}

    def loop(dbg, k):
        obs = torch.randn(16, 4)
        CLEARING[clear](critic, opts["critic"])
        value_loss = critic(actor(obs).detach()).square().mean()
        value_loss.backward()
        opts["critic"].step()
        CLEARING[clear](actor, opts["actor"])
        policy_loss = -critic(actor(obs)).mean()
        policy_loss.backward()
        opts["actor"].step()
        dbg.update(loss={"policy": policy_loss, "value": value_loss})

    verdicts = zeroing_of(tmp_path, loop, policy=actor, critic=critic, optimizer=opts)
    assert {name for each in verdicts for name in each} == {"actor", "critic"}
    assert all(all(each.values()) for each in verdicts), verdicts


def test_only_the_optimizer_that_forgets_is_named(tmp_path):
    nets = {"policy": nn.Linear(4, 1), "value": nn.Linear(4, 1)}
    opts = {name: torch.optim.SGD(net.parameters(), lr=1e-4) for name, net in nets.items()}

    def loop(dbg, k):
        losses = {name: net(torch.randn(8, 4)).square().mean() for name, net in nets.items()}
        opts["policy"].zero_grad()
        sum(losses.values()).backward()
        for each in opts.values():
            each.step()
        dbg.update(loss=losses)

    verdicts = zeroing_of(tmp_path, loop, policy=nets["policy"], critic=nets["value"], optimizer=opts)
    assert {each["policy"] for each in verdicts if "policy" in each} == {True}
    assert {each["value"] for each in verdicts if "value" in each} == {False}


# ── what a step did ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_is_measured_as_it_happened(optimizer, tmp_path):
    """Norms from clones taken by hand, before and after."""
    net = network()
    opt = OPTIMIZERS[optimizer](net.parameters())
    expected = []
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for _ in range(8):
            before = nn.utils.parameters_to_vector(net.parameters()).detach().clone()
            loss = loss_of(net)
            dbg.update(loss=loss)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.05)
            grad = torch.cat([each.grad.reshape(-1) for each in net.parameters()]).clone()
            opt.step()
            after = nn.utils.parameters_to_vector(net.parameters()).detach()
            expected.append((grad.norm(), (after - before).norm(), after.norm(), grad.abs().max()))
    run = read(dbg)
    for k, name in enumerate(("grad/norm", "step/norm", "weight/norm", "grad/absmax")):
        assert run[name].value == pytest.approx([float(each[k]) for each in expected], rel=1e-4), name
    ratio = [math.log10(each[1] / each[2]) for each in expected]
    assert run["step/log10_ratio"].value == pytest.approx(ratio, rel=1e-4)
    assert run["step/unchanged"].value.tolist() == [0.0] * 8
    assert list(run.table("parameters")[0][1]) == [
        "policy.0.weight",
        "policy.0.bias",
        "policy.2.weight",
        "policy.2.bias",
    ]


def test_a_sparse_gradient(tmp_path):
    net = nn.Embedding(10, 3, sparse=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for _ in range(4):
            loss = net(torch.tensor([1, 2, 2])).sum()
            dbg.update(loss=loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
    assert read(dbg)["grad/norm"].value == pytest.approx(math.sqrt(3 * (1 + 4)))


def test_lbfgs_calls_back_and_nothing_breaks(tmp_path):
    for inside in (True, False):
        net = network()
        x = torch.randn(32, 4)
        opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
        with rldebug.watch(
            policy=net, critic=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1
        ) as dbg:

            def closure(opt=opt, net=net, dbg=dbg, inside=inside, x=x):
                opt.zero_grad()
                loss = (net(x) - 1.0).square().mean()
                loss.backward()
                if inside:
                    dbg.update(loss=loss)
                return loss

            losses = []
            for _ in range(6):
                loss = opt.step(closure)
                losses.append(loss.item())
                if not inside:
                    dbg.update(loss=loss)
        run = read(dbg)
        assert losses[-1] < losses[0]
        assert len(run["step/norm"]) == 6, "one reading per step, wherever update() is called"
        assert run.meta["steps"] == {"optimizer": 6}
        if not inside:
            assert run["loss/total"].value == pytest.approx(losses, rel=1e-5)


class Flaky(torch.optim.SGD):
    """An optimizer of the user's own that raises now and then."""

    def step(self, closure=None):
        if self.param_groups[0].pop("fail", False):
            raise ValueError("mine")
        return super().step(closure)


def test_a_step_that_raises_is_the_users_own_error(tmp_path):
    net = network()
    opt = Flaky(net.parameters(), lr=0.1)
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1) as dbg:
        for k in range(8):
            loss = loss_of(net)
            dbg.update(loss=loss)
            opt.zero_grad()
            loss.backward()
            if k == 3:
                opt.param_groups[0]["fail"] = True
                with pytest.raises(ValueError, match="mine"):
                    opt.step()
            else:
                opt.step()
    run = read(dbg)
    assert run["step/norm"].update.tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert len(run["loss/total"]) == 8


# ── half precision ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_autocast(tmp_path):
    """bfloat16 on its way through: readings are those of the numbers handed over, in full precision."""
    net = network()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    rows, expected = 64, []
    with rldebug.watch(policy=net, critic=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for _ in range(10):
            with torch.autocast("cpu", torch.bfloat16):
                value = net(torch.randn(rows, 4)).squeeze(-1)
                assert value.dtype == torch.bfloat16
                target = torch.randn(rows).bfloat16()
                logits = torch.stack([value, -value], -1)
                dist = torch.distributions.Categorical(logits=logits)
                logp = dist.log_prob(torch.zeros(rows))
                loss = (value - target).square().mean()
                dbg.rollout(reward=target, value=value.detach(), terminated=target > 1, obs=torch.randn(rows, 4))
                dbg.replay(obs=torch.randn(rows, 4), next_obs=torch.randn(rows, 4), reward=target)
                dbg.update(
                    loss={"value": loss}, value=value, target=target, logp_new=logp, logp_old=logp.detach(),
                    advantage=target, dist=dist, logits=logits,
                )  # fmt: skip
                wide = value.detach().double()
                expected.append((wide.mean().item(), ((target - wide).var() / target.double().var()).item()))
            opt.zero_grad()
            loss.backward()
            opt.step()
    run = read(dbg)
    assert run["value/mean"].value == pytest.approx([each[0] for each in expected], rel=1e-4)
    assert run["value/residual_var"].value == pytest.approx([each[1] for each in expected], rel=1e-3)
    assert run["replay/duplicates"].value.tolist() == [0.0] * 10, "rounded to bfloat16, many rows would look alike"
    assert len(run["grad/norm"]) == 10


@pytest.mark.parametrize("after", [False, True], ids=["update-first", "step-first"])
@pytest.mark.parametrize("fused", [False, True], ids=["", "fused"])
def test_grad_scaler_and_the_steps_it_skips(fused, after, tmp_path):
    net = network()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    skipped, norms = (0, 1, 5), {}
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for k in range(12):
            loss = loss_of(net) * (math.inf if k in skipped else 1.0)
            if not after:
                dbg.update(loss=loss)
            opt.zero_grad()
            scaler.scale(loss).backward()
            scale = scaler.get_scale()
            if k not in skipped:
                grads = [each.grad.clone() / scale for each in net.parameters()]
                norms[k] = torch.cat([each.reshape(-1) for each in grads]).norm().item()
            scaler.step(opt)
            scaler.update()
            if after:
                dbg.update(loss=loss)
    run = read(dbg)
    assert run["grad/norm"].update.tolist() == list(norms), "a skipped step is no step"
    assert run["grad/norm"].value == pytest.approx(list(norms.values()), rel=1e-3), "unscaled"
    assert len(run["loss/total"]) == 12


# ── noise scale ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_noise_scale_in_a_real_loop(tmp_path):
    """A gradient of mean 1 per weight with noise of variance 4 per sample: tr(Σ) / |G|² = 4, by both estimators."""
    torch.manual_seed(0)
    weights = nn.Parameter(torch.zeros(400))
    net = nn.ParameterList([weights])
    opt = torch.optim.Adam(net.parameters(), lr=1e-6, betas=(0.9, 0.99))
    rows = 16
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=4, detail=4) as dbg:
        for _ in range(1500):
            grads = 1.0 + 2.0 * torch.randn(rows, 400)
            loss = (grads * weights).sum(-1).mean()
            dbg.update(loss=loss, advantage=torch.zeros(rows))
            opt.zero_grad()
            loss.backward()
            opt.step()
    run = read(dbg)
    assert len(run["noise/trace"]) >= 20
    assert np.mean(run["noise/trace"].value) == pytest.approx(4 * 400, rel=0.05)
    assert np.mean(run["noise/signal_sq"].value) == pytest.approx(400, rel=0.05)
    settled = run["noise/adam_trace"].tail(0.5)
    assert len(settled) >= 20
    assert settled.mean() == pytest.approx(4 * 400, rel=0.1)
    assert run["noise/adam_signal_sq"].tail(0.5).mean() == pytest.approx(400, rel=0.1)


def test_a_window_whose_batches_differ_is_thrown_away(tmp_path):
    net = network()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
        for k in range(60):
            loss = loss_of(net)
            dbg.update(loss=loss, advantage=torch.zeros(8 + k % 3))
            opt.zero_grad()
            loss.backward()
            opt.step()
    assert "noise/trace" not in read(dbg)


def test_amsgrad_and_sgd_have_no_moments_to_read(tmp_path):
    for make in (functools.partial(torch.optim.Adam, amsgrad=True), functools.partial(torch.optim.SGD, lr=0.1)):
        net = network()
        opt = make(net.parameters())
        with rldebug.watch(policy=net, optimizer=opt, folder=tmp_path, quiet=True, every=1, detail=1) as dbg:
            for _ in range(120):
                loss = loss_of(net, 8)
                dbg.update(loss=loss, advantage=torch.zeros(8))
                opt.zero_grad()
                loss.backward()
                opt.step()
        assert "noise/adam_trace" not in read(dbg)
