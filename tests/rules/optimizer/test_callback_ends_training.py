import pytest

from rldebug.rules.optimizer.callback_ends_training import CallbackEndsTraining
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3.common.callbacks import BaseCallback
        class Counts(BaseCallback):
            def _on_step(self) -> bool:  # here
                self.logger.record("steps", self.num_timesteps)
        """,
        """
        import stable_baselines3.common.callbacks as callbacks
        class Base(callbacks.BaseCallback):
            pass
        class Saves(Base):
            def _on_step(self):  # here
                if self.n_calls % 100 == 0:
                    self.model.save("model")
                    return True
        """,
        """
        from stable_baselines3.common.callbacks import EvalCallback
        class Mine(EvalCallback):
            def _on_step(self):
                super()._on_step()
                if self.done:
                    return  # here
                return True
        """,
        """
        from stable_baselines3 import PPO
        def tell(locals_, globals_):  # here
            print(locals_["self"].num_timesteps)
        model = PPO("MlpPolicy", "CartPole-v1")
        model.learn(1000, callback=tell)
        """,
    ],
    ids=["no return", "on some ways", "without a value", "a function"],
)
def test_fires_where_a_step_ends_without_an_answer(code):
    points_at(CallbackEndsTraining(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        from stable_baselines3.common.callbacks import BaseCallback
        class Counts(BaseCallback):
            def _on_step(self) -> bool:
                def told():
                    print(self.n_calls)
                told()
                return True
            def _on_rollout_end(self):
                print(self.num_timesteps)
        """,
        """
        from stable_baselines3.common.callbacks import BaseCallback
        class Stops(BaseCallback):
            def _on_step(self):
                if self.num_timesteps > 1000:
                    return False
                else:
                    with self.lock:
                        return self.goes_on()
        """,
        """
        from lightning import Callback
        class Counts(Callback):
            def _on_step(self):
                self.n += 1
        """,
        """
        from stable_baselines3 import PPO
        def tell(locals_, globals_):
            print(locals_["self"].num_timesteps)
            return True
        PPO("MlpPolicy", "CartPole-v1").learn(1000, callback=tell)
        """,
        """
        def tell(locals_, globals_):
            print(1)
        def run(pupil):
            pupil.learn(1000, callback=tell)
        """,
    ],
    ids=["returned", "on all ways", "another library", "a function", "another learner"],
)
def test_quiet_where_every_way_has_one(code):
    quiet(CallbackEndsTraining(), text(code))
