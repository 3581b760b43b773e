import torch
from torch.distributions import Normal

from rldebug.rules.action_sampling.mean_squashed_twice import MeanSquashedTwice
from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import findings

CODE = MeanSquashedTwice.code


def learner(*, mean=torch.tanh, squash=torch.tanh, steps=60):
    """An actor that climbs a fixed critic."""
    torch.manual_seed(0)
    env, actor, critic = Drift(box=True), net(2), net(1, WIDTH + 1)
    optimizer = torch.optim.Adam(actor.parameters(), 1e-3)

    def draw(obs):
        first, second = actor(obs).chunk(2, -1)
        normal = Normal(mean(first), second.exp())
        number = normal.rsample()
        return squash(number), normal.log_prob(number).sum(-1)

    seen = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            action = draw(tensor(obs)[None])[0][0].numpy()
        seen.append(obs)
        obs, _, terminated, truncated, _ = env.step(action)
        obs = env.reset()[0] if terminated or truncated else obs
        if step < 20:
            continue
        rows = tensor(seen[-16:])
        action, logp = draw(rows)
        loss = (0.1 * logp - critic(torch.cat([rows, action], 1))[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_where_mean_and_sample_are_squashed():
    (finding,) = findings(learner, CODE)
    assert finding.component == "action-sampling"


def test_quiet_where_the_mean_has_no_bounds():
    assert not findings(lambda: learner(mean=lambda given: given), CODE)


def test_quiet_where_the_mean_alone_is_squashed():
    assert not findings(lambda: learner(squash=lambda given: given), CODE)
