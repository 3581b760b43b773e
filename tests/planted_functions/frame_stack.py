"""Frame stacks as people write them."""

from __future__ import annotations

from collections import deque

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces

from tests.planted_functions import right, wrong


class LazyFrames:
    def __init__(self, frames):
        self._frames = frames

    def __array__(self, dtype=None, copy=None):
        out = np.concatenate([frame[..., None] if frame.ndim == 2 else frame for frame in self._frames], axis=-1)
        return out if dtype is None else out.astype(dtype)


@right()
class BaselinesFrameStack(gym.Wrapper):
    def __init__(self, env, k):
        super().__init__(env)
        self.k = k
        self.frames = deque(maxlen=k)

    def reset(self, **kwargs):
        ob, info = self.env.reset(**kwargs)
        for _ in range(self.k):
            self.frames.append(ob)
        return self._get_ob(), info

    def step(self, action):
        ob, reward, terminated, truncated, info = self.env.step(action)
        self.frames.append(ob)
        return self._get_ob(), reward, terminated, truncated, info

    def _get_ob(self):
        return LazyFrames(list(self.frames))


@right()
class ChannelsFirst(gym.ObservationWrapper):
    def __init__(self, env, n_frames=4):
        super().__init__(env)
        shape = env.observation_space.shape
        self.observation_space = spaces.Box(0, 255, (n_frames, *shape), np.uint8)
        self.stack = np.zeros((n_frames, *shape), np.uint8)

    def reset(self, **kwargs):
        self.stack = np.zeros_like(self.stack)
        return super().reset(**kwargs)

    def observation(self, obs):
        self.stack = np.concatenate([self.stack[1:], obs[None]])
        return self.stack


@right()
class PlainStack:
    def __init__(self, num_frames):
        self.num_frames = num_frames
        self.queue = deque(maxlen=num_frames)

    def reset(self, frame):
        self.queue.extend([frame] * self.num_frames)
        return np.stack(self.queue)

    def append(self, frame):
        self.queue.append(frame)
        return np.stack(self.queue)


@right()
def stack_frames(stacked_frames, state, is_new_episode):
    if is_new_episode:
        stacked_frames = deque([state for _ in range(3)], maxlen=3)
    else:
        stacked_frames.append(state)
    return np.stack(stacked_frames, axis=2 if state.ndim == 2 else -1), stacked_frames


@right()
class TorchHistory:
    def __init__(self, history_length, obs_shape):
        self.k, self.shape = history_length, obs_shape
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.k, *self.shape)

    def push(self, obs):
        self.state = torch.cat([self.state[1:], torch.as_tensor(obs, dtype=torch.float32)[None] / 255.0])

    def get_state(self):
        return self.state.clone()


@right()
class NewestFirst:
    def __init__(self, stack_size):
        self.k, self.frames = stack_size, []

    def reset(self, obs):
        self.frames = [obs] * self.k
        return np.array(self.frames)

    def step(self, obs):
        self.frames = [obs, *self.frames[:-1]]
        return np.array(self.frames)


@right()
class ChannelBlocks:
    """Frames (C, H, W) of several environments, put together along their channels."""

    def __init__(self, num_envs, obs_shape, nstack=4):
        self.c = obs_shape[0]
        self.stacked = np.zeros((num_envs, nstack * obs_shape[0], *obs_shape[1:]), np.float32)

    def reset(self, obs):
        self.stacked = np.zeros_like(self.stacked)
        self.stacked[:, -self.c :] = obs
        return self.stacked.copy()

    def step(self, obs, dones):
        self.stacked = np.roll(self.stacked, -self.c, axis=1)
        self.stacked[np.asarray(dones)] = 0
        self.stacked[:, -self.c :] = obs
        return self.stacked.copy()


@wrong("frame-stack-leaks-over-reset")
class Leaks(gym.Wrapper):
    def __init__(self, env, k):
        super().__init__(env)
        self.k, self.frames = k, deque(maxlen=k)

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        self.frames.append(obs)
        while len(self.frames) < self.k:
            self.frames.append(obs)
        return np.stack(self.frames), info

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.frames.append(obs)
        return np.stack(self.frames), *rest


@wrong("frame-stack-leaks-over-reset")
class NoReset:
    def __init__(self, num_stack, frame_shape):
        self.stack = np.zeros((num_stack, *frame_shape), np.uint8)

    def observe(self, frame):
        self.stack = np.roll(self.stack, -1, axis=0)
        self.stack[-1] = frame
        return self.stack.copy()


@wrong("frame-stack-one-step-late")
class Late:
    def __init__(self, k):
        self.k, self.frames = k, deque(maxlen=k)

    def reset(self, frame):
        self.frames.extend([frame] * self.k)
        return np.stack(self.frames, axis=-1)

    def step(self, frame):
        out = np.stack(self.frames, axis=-1)
        self.frames.append(frame)
        return out


@wrong("frame-stack-order-rotates")
class Ring(gym.Wrapper):
    def __init__(self, env, num_stack=4):
        super().__init__(env)
        self.buffer = np.zeros((num_stack, *env.observation_space.shape), np.uint8)
        self.t = 0

    def reset(self, *, seed=None, options=None):
        obs, info = self.env.reset(seed=seed, options=options)
        self.buffer[:] = obs
        self.t = 0
        return self.buffer.copy(), info

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.buffer[self.t % len(self.buffer)] = obs
        self.t += 1
        return self.buffer.copy(), reward, terminated, truncated, info


@wrong("frame-stack-same-frame-repeated")
class Copies:
    def __init__(self, n_stack):
        self.n_stack = n_stack

    def __call__(self, obs):
        return np.stack([obs for _ in range(self.n_stack)])


@wrong("frame-stack-shifted-the-wrong-way")
class RolledForward:
    def __init__(self, k):
        self.k = k

    def reset(self, obs):
        self.stack = np.stack([obs] * self.k)
        return self.stack.copy()

    def add(self, obs):
        self.stack = np.roll(self.stack, 1, axis=0)
        self.stack[-1] = obs
        return self.stack.copy()


@wrong("frame-stack-frame-added-twice")
class Twice(gym.ObservationWrapper):
    def __init__(self, env, k):
        super().__init__(env)
        self.k, self.frames = k, deque(maxlen=k)

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        self.frames.extend([obs] * self.k)
        return self.observation(obs), info

    def step(self, action):
        obs, *rest = self.env.step(action)
        self.frames.append(obs)
        return self.observation(obs), *rest

    def observation(self, obs):
        self.frames.append(obs)
        return np.array(self.frames)


@wrong("frame-stack-first-frame-lost")
class BlindStart(gym.Wrapper):
    def __init__(self, env, n_frames):
        super().__init__(env)
        self.n, self.shape = n_frames, env.observation_space.shape

    def reset(self, **kwargs):
        _, info = self.env.reset(**kwargs)
        self.state = np.zeros((self.n, *self.shape), np.uint8)
        return self.state, info

    def step(self, action):
        obs, r, te, tr, info = self.env.step(action)
        self.state = np.concatenate([self.state[1:], obs[np.newaxis]], axis=0)
        return self.state, r, te, tr, info


@wrong("frame-stack-not-filled-at-reset")
class Short:
    def __init__(self, k):
        self.frames = deque(maxlen=k)

    def reset(self):
        self.frames.clear()

    def push(self, frame):
        self.frames.append(frame)
        return np.stack(self.frames)


@wrong("frame-stack-wrong-number-of-frames")
class OneTooMany:
    def __init__(self, k):
        self.past = deque(maxlen=k)
        self.k = k

    def reset(self, obs):
        self.past.extend([obs] * self.k)
        return np.stack([*self.past, obs])

    def step(self, obs):
        out = np.stack([*self.past, obs])
        self.past.append(obs)
        return out


@wrong("frame-stack-wrong-axis")
class WidePicture(gym.Wrapper):
    def __init__(self, env, k):
        super().__init__(env)
        self.k = k

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        self.frames = deque([obs] * self.k, maxlen=self.k)
        return np.concatenate(self.frames, axis=1), info

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.frames.append(obs)
        return np.concatenate(self.frames, axis=1), reward, terminated, truncated, info


@wrong("frame-stack-returns-its-own-array")
class InPlace:
    def __init__(self, k, obs_shape):
        self.stack = np.zeros((k, *obs_shape), np.uint8)

    def reset(self, obs):
        self.stack[:] = obs
        return self.stack

    def append(self, obs):
        self.stack[:-1] = self.stack[1:].copy()
        self.stack[-1] = obs
        return self.stack


@wrong("frame-stack-leaks-over-reset", "frame-stack-returns-its-own-array")
class TwoThings:
    def __init__(self, k, frame_shape):
        self.stack = np.zeros((k, *frame_shape), np.uint8)

    def append(self, frame):
        self.stack[:-1] = self.stack[1:].copy()
        self.stack[-1] = frame
        return self.stack


@wrong("frame-stack-one-step-late", "frame-stack-wrong-axis")
class TwoOtherThings:
    def __init__(self, k):
        self.k = k

    def reset(self, frame):
        self.frames = [frame] * self.k
        return np.concatenate(self.frames, axis=1)

    def step(self, frame):
        before = np.concatenate(self.frames, axis=1)
        self.frames = [*self.frames[1:], frame]
        return before


@wrong("frame-stack-mismatch")
class Differences:
    def __init__(self, k):
        self.frames = deque(maxlen=k)
        self.k = k

    def reset(self, obs):
        self.frames.extend([obs] * self.k)
        return np.stack(self.frames)

    def step(self, obs):
        self.frames.append(obs // 2 + self.frames[-1] // 2)
        return np.stack(self.frames)
