"""A program of which is known how long it spent where."""

from rldebug.evidence.source import parsed
from rldebug.evidence.timing import Slice, Spot, Timing, Window

TEXT = """\
import torch
from envs import env


class Agent:
    def update(self):
        loss = self.net(env.obs)
        loss.backward()

    def walk(self, n):
        return self.walk(n - 1) if n else 0


while True:
    env.step(0)
    agent.update()
    agent.walk(3)
"""


def user(function, line):
    return Spot("src/train.py", function, line, "user", line)


STEP, UPDATE, WALK = (user("<module>", line) for line in (15, 16, 17))
ENV = Spot("/venv/envs.py", "Env.step", 40, "environment")
LINEAR = Spot("/venv/linear.py", "Linear.forward", 125, "module")
LINEAR_LATER = Spot("/venv/linear.py", "Linear.forward", 126, "module")
INNER = user("Agent.walk", 11)

SLICES = (
    Slice(4.0, 2000, (STEP, ENV), part="simulator"),
    Slice(2.0, 1000, (UPDATE, user("Agent.update", 7), LINEAR), part="loss"),
    Slice(0.5, 250, (UPDATE, user("Agent.update", 7), LINEAR_LATER), part="loss"),
    Slice(2.5, 1250, (UPDATE, user("Agent.update", 8)), part="backward"),
    Slice(1.0, 500, (WALK, INNER, INNER, INNER), part="other"),
    Slice(0.25, 125, (Spot("/venv/threading.py", "Thread.run", 9),), thread=1, part="waiting"),
)

MOMENTS = ((3.0, 0.002, 0), (3.002, 0.001, 1), (3.003, 0.001, 2), (3.0045, 0.001, 3), (3.9, 0.002, 4))


def timing(**changed):
    given = {
        "seconds": 10.0,
        "interval": 0.002,
        "slices": SLICES,
        "moments": MOMENTS,
        "happened": ((3.002, "step"), (3.0055, "backward")),
        "windows": (
            Window(0.0, 5.0, 500, 50, {"simulator": 2.5, "loss": 1.0}, resident=200_000_000, cpu=4.0),
            Window(5.0, 5.0, 1000, 100, resident=300_000_000, allocated=2_000_000, utilisation=0.25),
        ),
        "sources": (parsed(TEXT, "src/train.py"),),
    }
    return Timing(**(given | changed))
