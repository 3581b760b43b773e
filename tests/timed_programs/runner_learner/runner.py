import torch
from ledger import belongs, cost


class Runner:
    def __init__(self, env, policy, memory, config):
        self.env, self.policy, self.memory, self.config = env, policy, memory, config
        self.state, _ = env.reset(seed=6)

    def choose(self, state):
        with belongs("copies"):
            x = torch.from_numpy(state)
        with belongs("acting"), torch.no_grad():
            cost("acting")
            drawn = torch.multinomial(self.policy(x).exp(), 1)
        with belongs("copies"):
            return drawn.item()

    def advance(self, action):
        following, reward, over, late, _ = self.env.step(action)
        return following, reward, over, over or late

    def run(self, explore):
        for _ in range(self.config["per_round"]):
            action = self.env.action_space.sample() if explore else self.choose(self.state)
            following, reward, over, ended = self.advance(action)
            with belongs("buffer write"):
                self.memory.push(self.state, action, reward, following, over)
            self.state = self.env.reset()[0] if ended else following


class Judge:
    def __init__(self, env, policy):
        self.env, self.policy = env, policy
        self.scores = []

    @torch.no_grad()
    def play(self):
        cost("evaluation")
        state, _ = self.env.reset()
        total, ended = 0.0, False
        while not ended:
            action = self.policy(torch.from_numpy(state)).argmax().item()
            state, reward, over, late, _ = self.env.step(action)
            total += reward
            ended = over or late
        self.scores.append(total)
