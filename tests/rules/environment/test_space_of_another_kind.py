import gymnasium as gym

from rldebug.rules.environment.space_of_another_kind import SpaceOfAnotherKind
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_n_of_a_box_is_read():
    def program():
        return gym.spaces.Box(-1, 1, (2,)).n

    names(SpaceOfAnotherKind(), crashed(program))


def test_fires_when_the_shape_of_a_discrete_one_is_read():
    def program():
        env = gym.make("CartPole-v1")
        return env.action_space.shape[0]

    names(SpaceOfAnotherKind(), crashed(program))


def test_quiet_when_another_tuple_is_too_short():
    def program():
        env = gym.make("CartPole-v1")
        sizes = (4,)
        return env.action_space.n + sizes[1]

    quiet(SpaceOfAnotherKind(), crashed(program))


def test_quiet_when_a_space_lacks_another_name():
    def program():
        return gym.spaces.Discrete(2).size

    quiet(SpaceOfAnotherKind(), crashed(program))
