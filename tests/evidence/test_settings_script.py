"""Small scripts in the styles of several codebases; each names settings by other names than the reference does."""

from __future__ import annotations

from pathlib import Path

import pytest

from rldebug.evidence.given import HyperparametersError
from rldebug.evidence.hyperparameters import reference
from rldebug.evidence.settings_file import read_settings
from tests.evidence.beside import KINDS, compared, differing, values, verdict

CLEANRL = """
@dataclass
class Args:
    seed: int = 1
    env_id: str = "CartPole-v1"
    total_timesteps: int = 500000
    '''in all'''
    learning_rate: float = 2.5e-4
    num_envs: int = 8
    num_steps: int = 128
    anneal_lr: bool = True
    gamma: float = 0.99
    gae_lambda: float = 0.95
    num_minibatches: int = 4
    update_epochs: int = 4
    norm_adv: bool = True
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float = None
    batch_size: int = 0
    minibatch_size: int = 0

args = tyro.cli(Args)
optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
"""

ARGPARSE = """
parser = argparse.ArgumentParser()
parser.add_argument("--num-processes", type=int, default=8)
parser.add_argument("--rollout-length", type=int, default=2 ** 7)
parser.add_argument("--ppo-epoch", type=int, default=4, help="epochs: 99")
parser.add_argument("--mini-batch-size", type=int, default=256)
parser.add_argument("-l", "--learning-rate", type=float, default=2.5e-4)
parser.add_argument("--discount", type=float, default=0.99)
parser.add_argument("--tdlambda", dest="gae_lambda", default=1 - 0.05)
parser.add_argument("--clip-param", default=0.2)
parser.add_argument("--value-loss-coef", default=0.5)
parser.add_argument("--entropy-coef", default=1e-2)
parser.add_argument("--max-grad-norm", default=1 / 2)
parser.add_argument("--hidden-size", default=64)
"""

SPINNING_UP = """
def ppo(env_fn, seed=0, steps_per_epoch=1024, epochs=50, gamma=0.99, clip_ratio=0.2, pi_lr=2.5e-4, vf_lr=2.5e-4,
        train_pi_iters=4, lam=0.95, *, max_ep_len=1000, target_kl=None):
    pi_optimizer = Adam(ac.pi.parameters(), lr=pi_lr)
"""

SB3 = """
from stable_baselines3 import PPO
N_STEPS = 128
env = make_vec_env("CartPole-v1", n_envs=8, seed=3)
model = PPO("MlpPolicy", env, learning_rate=2.5e-4, n_steps=N_STEPS, batch_size=256, n_epochs=4, gamma=0.99,
            gae_lambda=0.95, clip_range=0.2, ent_coef=0.01, vf_coef=0.5, max_grad_norm=0.5, normalize_advantage=True,
            policy_kwargs=dict(net_arch=dict(pi=[64, 64], vf=[64, 64])), verbose=1)
model.learn(total_timesteps=100_000)
"""

CONSTANTS = """
GAMMA, LAMBDA = 0.99, 0.95
EPS_CLIP = 0.2
K_EPOCHS = 4
if __name__ == "__main__":
    LEARNING_RATE = 2.5e-4
    envs = make()
    try:
        T_HORIZON = int(128)
    finally:
        pass
"""

RLLIB = """
config = (
    PPOConfig()
    .environment("CartPole-v1")
    .training(gamma=0.99, lr=2.5e-4, train_batch_size=1024, minibatch_size=256, num_epochs=4, lambda_=0.95,
              clip_param=0.2, vf_loss_coeff=0.5, entropy_coeff=0.01, grad_clip=0.5)
)
"""

HAND_WRITTEN = """
class Agent:
    def __init__(self):
        self.gamma = 0.99
        self.lmbda = 0.95
        self.clip_epsilon = 0.2
        self.n_steps = 0  # a counter
        self.optimizer = torch.optim.Adam(self.net.parameters(), 2.5e-4)

    def learn(self, batch):
        update_epochs = 4
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.n_steps += 1

config = {"entropy_coef": 0.01, "value": {"vf_coef": 0.5}}
config["minibatch_size"] = 256
"""

CLICK = """
@click.command()
@click.option("--discount-factor", "-g", default=0.99)
@click.option("--lr", "learning_rate", default=2.5e-4)
def main(discount_factor, learning_rate): ...

app = typer.Typer()
@app.command()
def train(clip_range: float = typer.Option(0.2, "--clip"), gae_lambda: Annotated[float, typer.Option()] = 0.95): ...

flags.DEFINE_integer("update_epochs", 4, "passes")
value = config.get("vf_coef", 0.5)
class Config(NamedTuple):
    ent_coef: float = field(default=0.01)
"""

HEALTHY = {
    "cleanrl": (CLEANRL, 13),
    "argparse": (ARGPARSE, 12),
    "spinning-up": (SPINNING_UP, 6),
    "sb3": (SB3, 13),
    "constants": (CONSTANTS, 6),
    "rllib": (RLLIB, 10),
    "hand-written": (HAND_WRITTEN, 9),
    "click": (CLICK, 7),
}


@pytest.mark.parametrize(("script", "count"), HEALTHY.values(), ids=HEALTHY)
def test_equal_values_do_not_differ(script, count):
    found = compared("ppo", script)
    assert differing(found) == set()
    assert len(values(found)) == count
    assert {row.verdict for row in found.rows} == {"same"}


@pytest.mark.parametrize("style", ["cleanrl", "argparse", "spinning-up", "sb3", "constants", "rllib"])
def test_another_discount_is_seen_with_its_line(style):
    script = HEALTHY[style][0]
    assert "0.99" in script
    found = compared("ppo", script.replace("0.99", "0.9"))
    assert differing(found) == {"gamma"}
    assert verdict(found, "gamma").startswith("horizon 10 steps, not 100")
    [row] = [row for row in found.rows if row.name == "gamma"]
    assert "0.9" in script.replace("0.99", "0.9").splitlines()[row.line - 1]


def test_nothing_is_run():
    Path("canary").unlink(missing_ok=True)
    compared("ppo", "open('canary', 'w')\nraise SystemExit(3)\ngamma = 0.9\n")
    assert not Path("canary").exists()


@pytest.mark.parametrize(
    "script",
    [
        "plt.plot(xs, alpha=0.5)",
        "scheduler = StepLR(optimizer, step_size=30, gamma=0.1)",
        "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)",
        "img = cv2.convert(img, gamma=2.2)",
        "n_steps = 0\nwhile True:\n    n_steps += 1",
        "for gamma in (0.9, 0.99): train(gamma)",
        "gamma = compute()",
        "gamma = 0.5\ngamma *= 0.9",
        "returns = deque(maxlen=100)",
        "gamma = 1e999",
        "gamma = 10 ** 10 ** 10",
        "gamma = 'a' * 3\nlr = [1] * 99\nclip = 1 / 0",
        "def f(gamma): return Thing(gamma=gamma)",
        "x[0] = 0.9\nprint('gamma', 0.9)\nf(*a, **{'z': 1})",
    ],
)
@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_quiet(script, algorithm):
    found = compared(algorithm, script)
    assert found.rows == ()
    assert [each.name for each in found.missing] == [each.name for each in reference(KINDS[algorithm])]


def test_a_parameter_hides_the_constant_of_the_same_name():
    script = (
        "gamma = 0.9\ndef f(gamma, other=LR):\n    return gae(gamma=gamma)\ndef g():\n    return gae(discount=gamma)\n"
    )
    found = compared("ppo", script)
    assert [(row.yours, row.line) for row in found.rows] == [(0.9, 1)]
    assert compared("ppo", "def g():\n    rate = 0.9\n    return gae(discount=rate)\n").rows[0].yours == 0.9


def test_whose_learning_rate_it_is():
    script = """
critic_optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
opt = Adam(actor.parameters(), 1e-4)
"""
    assert values(compared("vpg", script)) == {"lr": [1e-4], "critic_lr": [1e-2]}
    assert values(compared("ppo", script)) == {"lr": [1e-2, 1e-4]}  # the reference has but one
    assert values(compared("trpo", "lr = 0.1")) == {"value_lr": [0.1]}


def test_replay_memories():
    assert values(compared("dqn", "memory = ReplayMemory(10000)")) == {"buffer": [10_000]}
    assert values(compared("dqn", "rb = ReplayBuffer(4, 2, 10_000)")) == {"buffer": [10_000]}
    assert values(compared("dqn", "self.memory = deque(maxlen=2000)")) == {"buffer": [2000]}


def test_the_line_of_a_syntax_error():
    Path("train.py").write_bytes(b"x = 1\nif True\n")
    with pytest.raises(HyperparametersError, match=r"train\.py:2: expected ':'"):
        read_settings(Path("train.py"))


def test_other_encodings_of_python_are_read():
    Path("latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\ngamma = 0.9\n")
    assert [(each.name, each.value, each.line) for each in read_settings(Path("latin.py"))] == [("gamma", 0.9, 3)]
