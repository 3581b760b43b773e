import math

import torch
import torch.nn.functional as F

from nets import Eye, Policy, TwinValues


def make_optimizer(parameters, cfg, lr):
    return getattr(torch.optim, cfg["optimizer"])(parameters, lr=lr)


def soft_value(log_pi, q_a, q_b, alpha):
    """Expectation of min(Q) - alpha log pi under the policy, one number per state."""
    return (log_pi.exp() * (torch.min(q_a, q_b) - alpha * log_pi)).sum(dim=1)


def follow(target, source, tau):
    with torch.no_grad():
        for t, s in zip(target.parameters(), source.parameters()):
            t.mul_(1.0 - tau).add_(s, alpha=tau)


class Agent:
    def __init__(self, picture_shape, n_actions, cfg):
        self.cfg = cfg
        side, _, layers = picture_shape
        width = cfg["width"]

        def eye():
            return Eye(layers, side, cfg["channels"], width)

        self.policy = Policy(eye(), width, n_actions)
        self.values = TwinValues(eye(), width, n_actions)
        self.target = TwinValues(eye(), width, n_actions)
        self.target.load_state_dict(self.values.state_dict())
        self.log_alpha = torch.tensor(math.log(cfg["alpha_start"]), requires_grad=True)
        self.wanted_entropy = cfg["entropy_share"] * math.log(n_actions)

        self.policy_opt = make_optimizer(self.policy.parameters(), cfg, cfg["lr"])
        self.value_opt = make_optimizer(self.values.parameters(), cfg, cfg["lr"])
        self.alpha_opt = make_optimizer([self.log_alpha], cfg, cfg["alpha_lr"])
        self.history = []

    def act(self, picture, greedy=False):
        with torch.no_grad():
            log_pi = self.policy(picture)
        if greedy:
            return int(log_pi.argmax(dim=1))
        return int(torch.multinomial(log_pi.exp(), 1))

    def learn(self, batch):
        before, action, reward, after, over = batch
        alpha = self.log_alpha.exp().item()

        with torch.no_grad():
            next_value = soft_value(self.policy(after), *self.target(after), alpha)
            wanted = reward + self.cfg["gamma"] * (1.0 - over) * next_value
        q_a, q_b = self.values(before)
        taken = action.unsqueeze(1)
        value_loss = F.smooth_l1_loss(q_a.gather(1, taken).squeeze(1), wanted)
        value_loss = value_loss + F.smooth_l1_loss(q_b.gather(1, taken).squeeze(1), wanted)
        self.value_opt.zero_grad()
        value_loss.backward()
        self.value_opt.step()

        log_pi = self.policy(before)
        with torch.no_grad():
            q_a, q_b = self.values(before)
        policy_loss = -soft_value(log_pi, q_a, q_b, alpha).mean()
        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()

        entropy = -(log_pi.exp() * log_pi).sum(dim=1).detach()
        alpha_loss = (self.log_alpha.exp() * (entropy - self.wanted_entropy)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        follow(self.target, self.values, self.cfg["tau"])
        self.history.append((value_loss.item(), policy_loss.item(), entropy.mean().item()))
