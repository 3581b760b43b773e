"""Schedules of ε, as people write them."""

from __future__ import annotations

import math

import numpy as np

from tests.planted_functions import right, wrong

EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 1000


@right()
def cleanrl_like(start_e: float, end_e: float, duration: int, t: int):
    slope = (end_e - start_e) / duration
    return max(slope * t + start_e, end_e)


@right()
def sb3_like(start, end, end_fraction):
    def func(progress_remaining):
        if (1 - progress_remaining) > end_fraction:
            return end
        return start + (1 - progress_remaining) * (end - start) / end_fraction

    return func


@right()
class BaselinesLike:
    def __init__(self, schedule_timesteps, final_p, initial_p=1.0):
        self.schedule_timesteps = schedule_timesteps
        self.final_p = final_p
        self.initial_p = initial_p

    def value(self, t):
        fraction = min(float(t) / self.schedule_timesteps, 1.0)
        return self.initial_p + fraction * (self.final_p - self.initial_p)


@right()
def pytorch_tutorial(steps_done):
    return EPS_END + (EPS_START - EPS_END) * math.exp(-1.0 * steps_done / EPS_DECAY)


@right()
class Stateful:
    def __init__(self, eps_start, eps_min, eps_decay):
        self.epsilon, self.low, self.rate = eps_start, eps_min, eps_decay

    def decay(self):
        self.epsilon = max(self.low, self.epsilon * self.rate)


@right()
def method(self, step):
    share = np.clip(step / (self.exploration_fraction * self.total_timesteps), 0, 1)
    return self.exploration_initial_eps + share * (self.exploration_final_eps - self.exploration_initial_eps)


@right()
def one_update(epsilon, epsilon_decay, epsilon_min):
    return max(epsilon_min, epsilon * epsilon_decay)


@right()
def lightning_like(global_step, eps_start, eps_end, eps_last_frame):
    return max(eps_end, eps_start - (global_step + 1) / eps_last_frame)


@right()
def of_the_step_alone(t):
    if t < 1000:
        return 1.0
    if t < 500_000:
        return 1.0 - 0.9 * (t - 1000) / 499_000
    return 0.1


@wrong("epsilon-schedule-not-stopped")
def goes_on(t, start, end, duration):
    return start - (start - end) * t / duration


@wrong("epsilon-schedule-stops-at-zero")
def stops_at_zero(step, eps_start, eps_end, decay_steps):
    return max(0.0, eps_start + step * (eps_end - eps_start) / decay_steps)


@wrong("epsilon-schedule-swapped")
def other_way_round(global_step, initial_eps, final_eps, anneal_steps):
    done = min(1.0, global_step / anneal_steps)
    return done * initial_eps + (1 - done) * final_eps


@wrong("epsilon-schedule-grows")
def wrong_sign(frame_idx, epsilon_start, epsilon_final, epsilon_decay):
    return epsilon_final + (epsilon_start - epsilon_final) * math.exp(frame_idx / epsilon_decay)


@wrong("epsilon-schedule-at-its-end-at-once")
class MinForMax:
    def __init__(self, start, end, duration):
        self.start, self.end, self.duration = start, end, duration

    def __call__(self, t):
        return min(self.end, self.start + (self.end - self.start) * t / self.duration)


@wrong("epsilon-schedule-falls-at-once")
def precedence(step, eps_start, eps_end, eps_last_frame):
    return max(eps_end, eps_start - step + 1 / eps_last_frame)


@wrong("epsilon-schedule-fraction-ignored")
def whole_training(t, start_eps, end_eps, exploration_fraction, total_timesteps):
    return max(end_eps, start_eps + (end_eps - start_eps) * t / total_timesteps)


@wrong("epsilon-schedule-whole-division")
def floor(t, start, end, duration):
    return start + (end - start) * min(t // duration, 1)


@wrong("epsilon-schedule-starts-too-high")
def added(steps_done, eps_start, eps_end, eps_decay):
    return eps_end + eps_start * math.exp(-steps_done / eps_decay)


@wrong("epsilon-schedule-starts-over")
def again(current_step, start, end, period):
    return start + (end - start) * ((current_step % period) / period)


@wrong("epsilon-schedule-end-not-added")
def falls_to_zero(frame, eps_start, eps_end, eps_decay):
    return (eps_start - eps_end) * math.exp(-1.0 * frame / eps_decay)


@wrong("epsilon-schedule-never-changes")
def same(t, start, end, duration):
    eps = start
    if t < 0:
        eps = end + (start - end) * (1 - t / duration)
    return eps


@wrong("epsilon-schedule-not-stopped")
def multiplied_without_a_floor(episode, eps_start, eps_min, decay_rate):
    eps = eps_start
    for _ in range(episode):
        eps *= decay_rate
    return eps


@wrong("epsilon-schedule-not-stopped")
def its_own_numbers_below_zero(step):
    return 1.0 - step / 50_000


@wrong("epsilon-schedule-swapped", "epsilon-schedule-whole-division")
def swapped_and_floored(t, start, end, duration):
    return end + (start - end) * min(t // duration, 1)


@wrong("epsilon-schedule-stops-at-zero", "epsilon-schedule-starts-too-high")
def too_high_and_to_zero(step, eps_start, eps_end, duration):
    return max(0, eps_end + eps_start * (1 - step / duration))


@wrong("epsilon-schedule-mismatch")
def wobbles(t, start, end, duration):
    return max(end, start - (start - end) * t / duration) + 0.05 * math.sin(t)
