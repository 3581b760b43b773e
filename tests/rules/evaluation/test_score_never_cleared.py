import pytest

from rldebug.rules.evaluation.score_never_cleared import ScoreNeverCleared
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def watch(game, act, n):
            scores, score = [], 0.0
            for k in range(n):
                ob, _ = game.reset(seed=k)
                over = False
                while not over:
                    ob, r, term, trunc, _ = game.step(act(ob))
                    score += r
                    over = term or trunc
                scores.append(score)  # here
            return sum(scores) / len(scores)
        """,
        """
        import numpy as np
        def train(env, agent, steps):
            returns, total = [], 0
            obs, _ = env.reset()
            for t in range(steps):
                obs, reward, terminated, truncated, _ = env.step(agent(obs))
                total += float(reward)
                if terminated or truncated:
                    returns.append(total)  # here
                    obs, _ = env.reset()
                if t % 100 == 0:
                    print(np.mean(returns[-10:]))
        """,
    ],
)
def test_fires_where_nothing_sets_it_back(code):
    points_at(ScoreNeverCleared(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def watch(game, act, n):
            scores = []
            for k in range(n):
                ob, _ = game.reset(seed=k)
                score, over = 0.0, False
                while not over:
                    ob, r, term, trunc, _ = game.step(act(ob))
                    score += r
                    over = term or trunc
                scores.append(score)
            return sum(scores) / len(scores)
        """,
        """
        import numpy as np
        def train(env, agent, steps):
            returns, total = [], 0
            obs, _ = env.reset()
            for t in range(steps):
                obs, reward, terminated, truncated, _ = env.step(agent(obs))
                total += reward
                if terminated or truncated:
                    returns.append(total)
                    total = 0
                    obs, _ = env.reset()
            return np.mean(returns)
        """,
        """
        import numpy as np
        def bandit(env, agent, steps):
            curve, total, episodes = [], 0.0, []
            env.reset()
            for t in range(steps):
                obs, reward, terminated, truncated, _ = env.step(agent())
                total += reward
                if terminated:
                    curve.append(total)
                    episodes.append(reward)
                    env.reset()
            return curve, np.mean(episodes)
        """,
        """
        import numpy as np
        def lanes(envs, agent, steps):
            returns, total = [], 0.0
            obs, _ = envs.reset()
            for t in range(steps):
                obs, reward, ended, cut, _ = envs.step(agent(obs))
                total += reward
                if ended.any():
                    returns.append(total)
                    total *= 1 - ended
                    envs.reset()
            return np.mean(returns)
        """,
        """
        import numpy as np
        def step_by_step(env, agent, steps):
            reached, total = [], 0.0
            env.reset()
            for t in range(steps):
                obs, reward, ended, cut, _ = env.step(agent())
                total += reward
                reached.append(total)
            return np.mean(reached)
        """,
    ],
)
def test_quiet_where_it_is_set_back_or_no_mean_is_taken(code):
    quiet(ScoreNeverCleared(), text(code))
