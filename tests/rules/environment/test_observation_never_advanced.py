import pytest

from rldebug.rules.environment.observation_never_advanced import ObservationNeverAdvanced
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        world = gym.make("CartPole-v1")
        seen, _ = world.reset()
        for k in range(1000):
            move = brain.choose(seen)  # here
            fresh, gain, end, cut, _ = world.step(move)
            shelf.put((seen, move, gain, fresh, end))
            if end or cut:
                seen, _ = world.reset()
        """,
        """
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        done = False
        while not done:
            action = agent.act(obs)  # here
            next_obs, reward, terminated, truncated, _ = env.step(action)
            memory.add(obs, action, reward, next_obs)
            done = terminated or truncated
        """,
        """
        import gymnasium as gym
        world = gym.make("Pendulum-v1")
        s, _ = world.reset(seed=3)
        s = torch.as_tensor(s) * scale
        for t in range(N):
            u = pi(s)  # here
            s2, r, terminated, truncated, _ = world.step(u.numpy())
            s2 = torch.as_tensor(s2) * scale
            S[t], U[t], R[t], S2[t] = s, u, r, s2
            if terminated or truncated:
                s = torch.as_tensor(world.reset()[0]) * scale
        """,
        """
        def episode(env, net):
            first = env.reset()
            state = torch.as_tensor(first)
            for t in range(200):
                a = net(state).argmax().item()  # here
                after, r, done, info = env.step(a)
                if done:
                    break
        """,
    ],
)
def test_fires_where_the_loop_never_renews_it(code):
    points_at(ObservationNeverAdvanced(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        class Tank(gym.Env):
            def reset(self, *, seed=None, options=None):
                return self.seen(), {}
            def step(self, action):
                return self.seen(), 1.0, False, False, {}
            def seen(self):
                return np.array([self.level])
        env = Tank()
        rows = []
        obs, _ = env.reset()
        for _ in range(4000):
            after, reward, ended, cut, _ = env.step(env.action_space.sample())
            rows.append((obs, reward, after))
            obs = env.reset()[0] if ended or cut else after
        seen, rewards, later = map(np.array, zip(*rows))
        mean = seen.mean(0)
        learn(seen - mean, rewards, later - mean)
        state, _ = env.reset()
        for _ in range(500):
            state, reward, ended, cut, _ = env.step(int(net(torch.as_tensor(state - mean)).argmax()))
        """,
        """
        import gymnasium as gym
        world = gym.make("CartPole-v1")
        seen, _ = world.reset()
        for k in range(1000):
            move = brain.choose(seen)
            fresh, gain, end, cut, _ = world.step(move)
            seen = fresh
            if end or cut:
                seen, _ = world.reset()
        """,
        """
        obs = scaled(env.reset()[0])
        while True:
            next_obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
            obs = scaled(env.reset()[0]) if terminated or truncated else scaled(next_obs)
        """,
        """
        fleet = [gym.make("CartPole-v1") for _ in range(8)]
        s = np.stack([f.reset()[0] for f in fleet])
        for t in range(1000):
            moves = brain.choose(torch.from_numpy(s)).numpy()
            new = []
            for i, f in enumerate(fleet):
                o, r, end, cut, _ = f.step(int(moves[i]))
                new.append(f.reset()[0] if end or cut else o)
            s = np.stack(new)
        """,
        """
        envs = [gym.make("CartPole-v1") for _ in range(8)]
        s = [each.reset()[0] for each in envs]
        for t in range(1000):
            moves = brain.choose(s)
            for i in range(8):
                o, r, end, cut, _ = envs[i].step(int(moves[i]))
                late.append(o)
            s = late[-8:]
        """,
        """
        obs, _ = env.reset()
        while True:
            action = agent.act(obs)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            obs = next_obs
        """,
        """
        obs, _ = env.reset()
        while True:
            obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
        """,
        """
        obs, _ = env.reset()
        action = agent.act(obs)
        for _ in range(4):
            after, reward, terminated, truncated, _ = env.step(action)
        """,
        """
        while True:
            obs, _ = env.reset()
            after, reward, terminated, truncated, _ = env.step(agent.act(obs))
        """,
        """
        obs, _ = env.reset()
        while True:
            after, reward, terminated, truncated, _ = env.step(agent.act(obs))
            obs[:] = after
        """,
        """
        obs, _ = env.reset()
        for k in range(10):
            _, reward, terminated, truncated, _ = env.step(bandit.act(obs))
        """,
    ],
)
def test_quiet_where_it_is_renewed(code):
    quiet(ObservationNeverAdvanced(), text(code))
