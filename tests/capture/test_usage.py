import textwrap

import pytest

from rldebug.capture.usage import usage_of


def usage(source, **more):
    return usage_of({"train.py": textwrap.dedent(source), **{f"{name}.py": text for name, text in more.items()}})


def unread(source):
    found = usage(source)
    return {each.name for each in found.settings if found.reads(each.name, each.where, each.holder) == 0}


def test_a_constant_that_nobody_reads():
    assert unread("GAMMA = 0.99\nLR = 1e-3\nrun(LR)") == {"GAMMA"}
    assert unread("gamma, lr = 0.99, 1e-3\nrun(lr)") == {"gamma"}
    assert unread("BUFFER = 10 ** 6") == {"BUFFER"}


@pytest.mark.parametrize(
    "use",
    ["run(GAMMA)", "x = 1 - GAMMA", "import config\nprint(1 / config.GAMMA)", "table['GAMMA']", "GAMMA *= 0.9"],
)
def test_a_constant_that_somebody_reads(use):
    assert unread(f"GAMMA = 0.99\n{use}") == set()


def test_a_constant_of_one_file_that_is_read_in_another():
    found = usage("GAMMA = 0.99", other="from train import GAMMA\ny = 1 + GAMMA")
    assert found.reads("GAMMA", "constant") == 1


def test_a_field_that_is_only_handed_on_is_used_by_nobody():
    program = """
        @dataclass
        class Config:
            gamma: float = 0.99
            lr: float = 1e-3

        class Agent:
            def __init__(self, gamma, lr):
                self.gamma = gamma
                self.opt = Adam(lr=lr)

        cfg = Config()
        agent = Agent(gamma=cfg.gamma, lr=cfg.lr)
        print(f"gamma {cfg.gamma}")
    """
    assert unread(program) == {"gamma"}
    assert usage(program).shown["gamma"] == 1
    assert unread(program + "    y = 2 * agent.gamma\n") == set()


def test_what_is_handed_to_a_library_is_used():
    assert unread("class C:\n    gamma = 0.9\nmodel = PPO('MlpPolicy', gamma=C.gamma)") == set()


def test_attributes_of_a_subclass_of_a_library_may_be_read_there():
    program = "class C:\n    tau = 0.9\nclass Mine(LibraryThing):\n    def f(self): self.tau = C.tau"
    assert unread(program) == set()
    assert unread(program.replace("LibraryThing", "nn.Module")) == {"tau"}
    assert unread(program.replace("LibraryThing", "library.Mine")) == set()


@pytest.mark.parametrize(
    "dark", ["getattr(cfg, name)", "Library(**vars(cfg))", "cfg = vars(cfg)\nLibrary(**cfg)", "exec(text)"]
)
def test_nothing_is_said_where_names_are_made_up_while_it_runs(dark):
    assert unread(f"class C:\n    gamma = 0.9\ncfg = C()\n{dark}") == set()


@pytest.mark.parametrize(
    "harmless",
    [
        "import torch\ngetattr(torch.optim, 'Adam')",
        "import torch\nname = 'Adam'\ngetattr(torch.optim, name)",
        "for k, v in vars(cfg).items(): print(k, v)",
        "wandb.init(config=vars(cfg))",
        "text = '|'.join(f'{k}{v}' for k, v in vars(cfg).items())",
        "ns = SimpleNamespace(**vars(cfg))",
    ],
)
def test_showing_all_options_is_no_use(harmless):
    assert unread(f"class C:\n    gamma = 0.9\ncfg = C()\n{harmless}") == {"gamma"}


def test_parameters_that_a_function_never_looks_at():
    found = usage("""
        def returns(rewards, gamma=0.9):
            return rewards.cumsum()

        class Env(gym.Env):
            def reset(self, seed=None, options=None):
                return 0

        class A:
            def act(self, obs, eps): return obs

        class B:
            def act(self, obs, eps): return obs + eps

        def empty(lam):
            raise NotImplementedError

        def asks(lam):
            return locals()

        def nobody_calls(lam):
            return 1

        def plain(values, lam): return values

        def weighted(values, lam): return values * lam

        estimators = [returns, empty, asks, plain, weighted]
    """)
    assert [(each.holder, each.name, each.value) for each in found.unread_parameters] == [("returns", "gamma", 0.9)]


def test_a_file_that_is_no_python_is_passed_by():
    assert usage("def (", other="X = 1").reads("X", "constant") == 0
