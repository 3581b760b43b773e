import pytest

from rldebug.rules.evaluation.evaluated_in_the_training_environment import EvaluatedInTheTrainingEnvironment
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        def study(brain):
            world = trial = gym.make("CartPole-v1")
            def exam():
                seen, _ = trial.reset()
                over = False
                while not over:
                    seen, gain, end, cut, _ = trial.step(brain.best(seen))
                    over = end or cut
            seen, _ = world.reset()
            for k in range(1000):
                seen, gain, end, cut, _ = world.step(brain.act(seen))
                if end or cut:
                    seen, _ = world.reset()
                if k % 100 == 0:
                    exam()  # here
        """,
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            total, done = 0.0, False
            while not done:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
                total += reward
                done = terminated or truncated
            return total
        def train(env, agent):
            obs, _ = env.reset()
            for t in range(10000):
                after, reward, terminated, truncated, _ = env.step(agent.act(obs))
                agent.learn(obs, reward, after)
                obs = after
                if terminated or truncated:
                    obs, _ = env.reset()
                if t % 1000 == 0:
                    print(evaluate(env, agent))  # here
        """,
        """
        class Trainer:
            def score(self):
                state, _ = self.env.reset()
                total, over = 0.0, False
                while not over:
                    state, reward, terminated, truncated, _ = self.env.step(self.best(state))
                    total += reward
                    over = terminated or truncated
                return total
            def train(self):
                state, _ = self.env.reset()
                while self.t < self.limit:
                    following, reward, terminated, truncated, _ = self.env.step(self.act(state))
                    state = following
                    self.t += 1
                    if self.t % 500 == 0:
                        self.log(self.score())  # here
                    if terminated or truncated:
                        state, _ = self.env.reset()
        """,
    ],
)
def test_fires_in_the_middle_of_an_episode(code):
    points_at(EvaluatedInTheTrainingEnvironment(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
        def train(env, other, agent):
            obs, _ = env.reset()
            for t in range(10000):
                obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                evaluate(other, agent)
        """,
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
        def train(env, agent):
            obs, _ = env.reset()
            for t in range(10000):
                obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                if t % 1000 == 0:
                    evaluate(env, agent)
                    obs, _ = env.reset()
        """,
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
        def train(env, agent):
            for episode in range(100):
                obs, _ = env.reset()
                done = False
                while not done:
                    obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                    done = terminated or truncated
                evaluate(env, agent)
        """,
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
        def train(env, agent):
            obs, _ = env.reset()
            for t in range(10000):
                obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                if terminated or truncated:
                    if t > 1000:
                        evaluate(env, agent)
                    obs, _ = env.reset()
        """,
        """
        def evaluate(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.best(obs))
        def train(env, agent):
            for episode in range(100):
                obs, _ = env.reset()
                while True:
                    obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                    if terminated or truncated:
                        if episode % 10 == 0:
                            evaluate(env, agent)
                        break
        """,
        """
        def look(env):
            return env.action_space.n
        def train(env, agent):
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
                look(env)
        """,
    ],
)
def test_quiet_elsewhere(code):
    quiet(EvaluatedInTheTrainingEnvironment(), text(code))
