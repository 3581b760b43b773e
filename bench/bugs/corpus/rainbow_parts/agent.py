import torch
import torch.nn as nn

from memory import NStepAssembler, PrioritisedMemory
from networks import DuelingCategoricalNet


def project(next_probs, ret, discount, support):
    """Categorical projection of ret + discount * Z onto the fixed support."""
    v_min, v_max, n_atoms = float(support[0]), float(support[-1]), len(support)
    step = (v_max - v_min) / (n_atoms - 1)
    moved = (ret[:, None] + discount[:, None] * support[None, :]).clamp(v_min, v_max)
    b = ((moved - v_min) / step).clamp(0, n_atoms - 1)
    lower, upper = b.floor(), b.ceil()
    exact = (lower == upper).float()
    out = torch.zeros_like(next_probs)
    out.scatter_add_(1, lower.long(), next_probs * (upper - b + exact))
    out.scatter_add_(1, upper.long(), next_probs * (b - lower))
    return out


class RainbowAgent:
    def __init__(self, obs_dim, n_actions, cfg, rng):
        self.cfg = cfg
        self.support = torch.linspace(cfg.v_min, cfg.v_max, cfg.atoms)
        self.online = DuelingCategoricalNet(obs_dim, n_actions, self.support, cfg.hidden, sigma0=cfg.noisy_sigma)
        self.target = DuelingCategoricalNet(obs_dim, n_actions, self.support, cfg.hidden, sigma0=cfg.noisy_sigma)
        self.target.load_state_dict(self.online.state_dict())
        self.target.requires_grad_(False)
        self.optim = torch.optim.Adam(self.online.parameters(), lr=cfg.lr, eps=1.5e-4)
        self.assembler = NStepAssembler(cfg.n_step, cfg.gamma)
        self.memory = PrioritisedMemory(cfg.memory_size, obs_dim, cfg.alpha, cfg.priority_eps, rng)
        self.updates = 0

    @torch.no_grad()
    def act(self, obs) -> int:
        return int(self.online.q_values(torch.from_numpy(obs)[None]).argmax(dim=1))

    def remember(self, obs, action, reward, next_obs, terminated, truncated):
        for item in self.assembler.push(obs, action, reward, next_obs, terminated, truncated):
            self.memory.store(*item)

    def beta(self) -> float:
        done = min(1.0, self.updates / self.cfg.beta_updates)
        return self.cfg.beta0 + (1.0 - self.cfg.beta0) * done

    def learn(self) -> float:
        leaves, weights, batch = self.memory.draw(self.cfg.batch_size, self.beta())
        rows = torch.arange(self.cfg.batch_size)

        self.online.resample_noise()
        self.target.resample_noise()
        with torch.no_grad():
            best = self.online.q_values(batch["next_obs"]).argmax(dim=1)
            next_probs = self.target(batch["next_obs"])[rows, best].exp()
            goal = project(next_probs, batch["ret"], batch["discount"], self.support)

        log_p = self.online(batch["obs"])[rows, batch["action"]]
        cross_entropy = -(goal * log_p).sum(dim=1)
        loss = (weights * cross_entropy).mean()

        self.optim.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), self.cfg.max_norm)
        self.optim.step()

        self.memory.reprioritise(leaves, cross_entropy.detach().tolist())
        self.updates += 1
        if self.updates % self.cfg.sync_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()
