"""A fleet of model boats, simulated together: each is to reach its own mark and to stay inside the pond."""
from __future__ import annotations

import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase, RewardSum, StepCounter, TransformedEnv

POND = 1.6
ARRIVAL = 0.2
LIMIT = 24


class Regatta(EnvBase):
    def __init__(self, boats: int = 48, device: str = "cpu"):
        super().__init__(device=device, batch_size=torch.Size([boats]))
        self.boats = boats
        self.observation_spec = Composite(observation=Unbounded(shape=(boats, 6)), shape=(boats,))
        self.action_spec = Bounded(low=-1.0, high=1.0, shape=(boats, 2))
        self.reward_spec = Unbounded(shape=(boats, 1))
        flag = Categorical(n=2, shape=(boats, 1), dtype=torch.bool)
        self.done_spec = Composite(done=flag.clone(), terminated=flag.clone(), shape=(boats,))
        self.gen = torch.Generator(device=device)
        self.place = torch.zeros(boats, 2)
        self.speed = torch.zeros(boats, 2)
        self.mark = torch.zeros(boats, 2)

    def _uniform(self, scale: float) -> torch.Tensor:
        return scale * (2 * torch.rand(self.boats, 2, generator=self.gen) - 1)

    def _look(self) -> torch.Tensor:
        return torch.cat([self.mark - self.place, self.speed, self.place], dim=-1)

    def _flags(self, terminated: torch.Tensor) -> dict:
        return {"terminated": terminated, "done": terminated.clone()}

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs) -> TensorDictBase:
        if tensordict is not None and "_reset" in tensordict.keys():
            who = tensordict["_reset"].reshape(self.boats, 1)
        else:
            who = torch.ones(self.boats, 1, dtype=torch.bool)
        self.place = torch.where(who, self._uniform(1.0), self.place)
        self.mark = torch.where(who, self._uniform(1.0), self.mark)
        self.speed = torch.where(who, torch.zeros_like(self.speed), self.speed)
        quiet = torch.zeros(self.boats, 1, dtype=torch.bool)
        return TensorDict({"observation": self._look(), **self._flags(quiet)}, batch_size=self.batch_size)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        rudder = tensordict["action"].clamp(-1.0, 1.0)
        self.speed = 0.6 * self.speed + 0.12 * rudder
        self.place = self.place + self.speed
        distance = (self.mark - self.place).norm(dim=-1, keepdim=True)
        arrived = distance < ARRIVAL
        aground = self.place.abs().amax(dim=-1, keepdim=True) > POND
        reward = 2.0 * arrived.float() - 1.0 * (aground & ~arrived).float() - 0.1 * distance
        return TensorDict(
            {"observation": self._look(), "reward": reward, **self._flags(arrived | aground)},
            batch_size=self.batch_size,
        )

    def _set_seed(self, seed: int | None):
        if seed is not None:
            self.gen.manual_seed(seed)


def make_regatta(boats: int, seed: int) -> TransformedEnv:
    env = TransformedEnv(Regatta(boats))
    env.append_transform(StepCounter(max_steps=LIMIT))
    env.append_transform(RewardSum())
    env.set_seed(seed)
    return env
