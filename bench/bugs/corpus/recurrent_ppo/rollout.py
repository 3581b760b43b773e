import torch


def compute_gae(rewards, values, first, last_value, last_first, gamma, lam):
    """rewards, values, first: (T, N). first[t] is 1 if observation t opened a new episode."""
    T = rewards.shape[0]
    adv = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(T)):
        if t == T - 1:
            following, alive = last_value, 1.0 - last_first
        else:
            following, alive = values[t + 1], 1.0 - first[t + 1]
        delta = rewards[t] + gamma * following * alive - values[t]
        running = delta + gamma * lam * alive * running
        adv[t] = running
    return adv, adv + values


class Rollout:
    def __init__(self, T, N, n_obs, width):
        self.T, self.N = T, N
        self.obs = torch.zeros(T, N, n_obs)
        self.carry = torch.zeros(T, N, width)      # memory the net held before it saw obs[t]
        self.first = torch.zeros(T, N)
        self.actions = torch.zeros(T, N, dtype=torch.long)
        self.logp = torch.zeros(T, N)
        self.values = torch.zeros(T, N)
        self.rewards = torch.zeros(T, N)

    def write(self, t, obs, carry, first, action, logp, value):
        self.obs[t] = obs
        self.carry[t] = carry
        self.first[t] = first
        self.actions[t] = action
        self.logp[t] = logp.detach()
        self.values[t] = value.detach()

    def chunks(self, span, adv, returns, parts):
        """Cut the rollout into pieces of `span` steps and yield them in `parts` random batches, time-major."""
        K = self.T // span

        def cut(x):
            x = x.view(K, span, self.N, *x.shape[2:]).transpose(0, 1)
            return x.reshape(span, K * self.N, *x.shape[3:])

        fields = {"obs": cut(self.obs), "first": cut(self.first), "actions": cut(self.actions), "logp": cut(self.logp),
                  "values": cut(self.values), "adv": cut(adv), "returns": cut(returns)}
        carry = self.carry[::span].reshape(K * self.N, -1)
        for index in torch.randperm(K * self.N).chunk(parts):
            batch = {name: x[:, index] for name, x in fields.items()}
            batch["carry"] = carry[index]
            yield batch
