from typing import Any

from rldebug.evidence.timing import Environment, Network, Timing
from rldebug.rules.performance.rendering_left_on import RenderingLeftOn
from tests.judge import quiet
from tests.rules.timings import library_spot, on, points_at_line, timing

HUMAN = """
import gymnasium
env = gymnasium.make("CartPole-v1", render_mode="human")  # make
while True:
    obs, reward, done, cut, info = env.step(act(obs))  # step
"""
THROWN_AWAY = """
while True:
    env.step(act(obs))  # step
    env.render()  # render
"""
USED = """
while True:
    env.step(act(obs))  # step
    obs = torch.as_tensor(env.render())  # render
"""
DRAWS = library_spot("gymnasium/envs/classic_control/cartpole.py", "CartPoleEnv.render", "environment")
MLP = (Network("actor", ((64, 4), (64,))),)
CNN = (Network("actor", ((32, 4, 8, 8), (32,))),)


def run(code: str, marker: str, seconds: float = 4.0, below: tuple[Any, ...] = (DRAWS,), **fields: Any) -> Timing:
    slices = [on(marker, seconds, below=below, part="rendering", inside=marker == "step", env=0)]
    return timing(code, slices, **({"networks": MLP} | fields))


def test_fires_for_the_mode_of_human_eyes():
    env = Environment("CartPole-v1", steps=500, calls=500, render_mode="human", created=("train.py", 3))
    finding = points_at_line(RenderingLeftOn(), run(HUMAN, "step", environments=(env,)), "make")
    assert 'render_mode="human"' in finding.seen
    assert abs(finding.speedup - 10 / 6) < 0.01


def test_fires_for_a_picture_that_is_thrown_away():
    points_at_line(RenderingLeftOn(), run(THROWN_AWAY, "render", networks=CNN), "render")


def test_points_at_the_call_though_the_users_own_environment_draws():
    code = THROWN_AWAY + "\nclass Maze:\n    def render(self):\n        return paint(self)  # paint\n"
    made = timing(code, [on("paint", 4.0, via=["render"], part="rendering", env=0)], networks=MLP)
    points_at_line(RenderingLeftOn(), made, "render")


def test_fires_for_pictures_that_no_network_could_see():
    points_at_line(RenderingLeftOn(), run(USED, "render", networks=MLP), "render")


def test_fires_for_videos_of_training():
    recorder = library_spot("gymnasium/wrappers/rendering.py", "RecordVideo._capture_frame", "wrapper")
    finding = points_at_line(RenderingLeftOn(), run(HUMAN, "step", below=(recorder, DRAWS), networks=CNN), "step")
    assert "episode_trigger" in finding.help


def test_quiet_where_the_picture_is_what_the_agent_sees():
    quiet(RenderingLeftOn(), run(USED, "render", networks=CNN))
    pixels = library_spot("gymnasium/wrappers/transform_observation.py", "AddRenderObservation.observation", "wrapper")
    quiet(RenderingLeftOn(), run(HUMAN, "step", below=(pixels, DRAWS), networks=MLP))


def test_quiet_for_pictures_of_evaluation():
    env = Environment("CartPole-v1", steps=500, calls=500, evaluation=True)
    quiet(RenderingLeftOn(), run(THROWN_AWAY, "render", environments=(env,)))


def test_quiet_for_a_picture_now_and_then():
    quiet(RenderingLeftOn(), run(THROWN_AWAY, "render", seconds=0.3))


def test_quiet_where_it_is_not_known_what_the_networks_see():
    quiet(RenderingLeftOn(), run(USED, "render", networks=()))
