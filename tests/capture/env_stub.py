"""A log that only remembers, and the hooks around a program that is a few lines long."""

from contextlib import contextmanager
from types import SimpleNamespace

from rldebug.capture import dm_environments, environments, envpool, games, hand_rolled, turns, vec_environments
from rldebug.capture.env_results import copied
from rldebug.capture.switch import Switchboard


class Log:
    """What the hooks tell, in order. Observations are copied, as the real one does."""

    def __init__(self):
        self.said = []

    def new(self, env, kind, lanes, autoreset, facts):
        self.said.append(
            SimpleNamespace(what="new", env=id(env), kind=kind, lanes=lanes, autoreset=autoreset, facts=facts)
        )

    def reset(self, env, obs, seed, lanes, mask=None):
        self.said.append(SimpleNamespace(what="reset", env=id(env), obs=copied(obs), seed=seed, lanes=lanes, mask=mask))

    def step(self, env, action, obs, reward, terminated, truncated, final_obs):
        self.said.append(
            SimpleNamespace(
                what="step",
                env=id(env),
                action=action,
                obs=copied(obs),
                reward=copied(reward),
                terminated=copied(terminated),
                truncated=copied(truncated),
                final=copied(final_obs),
            )
        )

    def whats(self):
        return " ".join(each.what for each in self.said)

    def all(self, what):
        return [each for each in self.said if each.what == what]

    def only(self, what):
        (found,) = self.all(what)
        return found


@contextmanager
def watched():
    """All kinds of hooks; nothing may have broken in the end."""
    switch, log = Switchboard(), Log()
    log.switch = switch
    for each in (environments, vec_environments, turns, games, dm_environments, envpool, hand_rolled):
        each.install(switch, log)
    try:
        yield log
    finally:
        switch.undo()
    assert not switch.broken, switch.broken
