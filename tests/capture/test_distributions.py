"""Distributions: what is sampled and scored, once each; and that they stay what they are."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import (
    Categorical,
    Distribution,
    Independent,
    Normal,
    OneHotCategorical,
    TanhTransform,
    TransformedDistribution,
)

from rldebug.capture import distributions
from tests.capture.fake_session import FakeSession, hooked


def told(session: FakeSession, kind: str) -> dict[str, Any]:
    assert session.audit is not None
    (found,) = session.audit.of(kind)
    return found


def arrays(session: FakeSession, kind: str) -> dict[str, Any]:
    assert session.audit is not None
    (found,) = session.audit.arrays(kind)
    return found


def test_a_categorical_is_told_with_its_logits() -> None:
    with hooked(distributions) as session:
        logits = torch.randn(5, 3, requires_grad=True)
        dist = Categorical(logits=logits)
        action = dist.sample()
        score, entropy = dist.log_prob(action), dist.entropy()
        logp = told(session, "logp")
        assert (logp["dist"], logp["batch"], logp["event"]) == ("Categorical", [5], [])
        assert (logp["value_shape"], logp["shape"]) == ([5], [5])
        assert (logp["attached"], logp["value_attached"]) == (True, False)
        assert logp["params"] == ["logits"]
        assert logp["line"][0].endswith("test_distributions.py")
        kept = arrays(session, "logp")
        assert kept["value"].tolist() == action.tolist()
        assert kept["result"].tolist() == score.tolist()
        assert kept["params"] == pytest.approx(torch.log_softmax(logits, 1).detach().numpy())
        assert arrays(session, "entropy")["result"].tolist() == entropy.tolist()
        assert told(session, "sample")["how"] == "sample"  # and not the multinomial inside


def test_only_the_outermost_of_nested_distributions_is_told() -> None:
    with hooked(distributions) as session:
        mean = torch.zeros(4, 2, requires_grad=True)
        base = Independent(Normal(mean, torch.ones(2)), 1)
        squashed = TransformedDistribution(base, [TanhTransform(cache_size=1)])
        action = squashed.rsample()
        squashed.log_prob(action)
        logp = told(session, "logp")
        assert logp["dist"] == "TransformedDistribution"
        assert logp["inner"] == ["Independent", "Normal"]
        assert logp["value_attached"] is True
        assert logp["params"] == ["loc", "scale"]
        assert arrays(session, "logp")["params"].tolist() == [[0.0, 0.0, 1.0, 1.0]] * 4
        assert told(session, "sample")["how"] == "rsample"


def test_a_broadcast_is_visible_in_the_shapes() -> None:
    with hooked(distributions) as session:
        Normal(torch.zeros(6, 1), 1.0).log_prob(torch.zeros(6))
        assert told(session, "logp")["shape"] == [6, 6]


def test_parameters_are_read_where_they_are_and_never_computed() -> None:
    with hooked(distributions) as session:
        dist = Categorical(probs=torch.tensor([[0.5, 0.5]]))
        dist.sample()
        assert "logits" not in vars(dist)
        assert told(session, "sample")["params"] == ["probs"]
        OneHotCategorical(logits=torch.zeros(2, 3)).log_prob(torch.eye(3)[:2])
        assert told(session, "logp")["params"] == ["logits"]


def test_multinomial_is_a_sample_as_a_function_and_as_a_method() -> None:
    with hooked(distributions) as session:
        weights = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        assert torch.multinomial(weights, 1).tolist() == [[1], [0]]
        assert weights.multinomial(num_samples=1).tolist() == [[1], [0]]
        assert session.audit is not None
        first, second = session.audit.of("sample")
        assert first["dist"] == second["dist"] == "multinomial"
        assert session.audit.arrays("sample")[0]["params"].tolist() == weights.tolist()


def test_a_rollout_does_not_fill_the_audit() -> None:
    with hooked(distributions) as session:
        dist = Normal(torch.zeros(1), torch.ones(1))
        for _ in range(2000):
            dist.sample()
        dist.sample()  # on another line
        assert session.audit is not None
        assert 256 <= len(session.audit.of("sample")) < 300
        assert len({each["line"] for each in session.audit.of("sample")}) == 2


def test_outside_of_audits_nothing_is_told() -> None:
    with hooked(distributions) as session:
        audit, session.audit = session.audit, None
        Normal(0.0, 1.0).log_prob(Normal(0.0, 1.0).sample())
        assert audit is not None
        assert audit.events == []


def test_what_is_raised_is_passed_on_and_the_next_call_is_told() -> None:
    with hooked(distributions) as session:
        with pytest.raises(ValueError, match="within the support"):
            Categorical(logits=torch.zeros(2), validate_args=True).log_prob(torch.tensor(7))
        Categorical(logits=torch.zeros(2)).log_prob(torch.tensor(1))
        assert told(session, "logp")["shape"] == []


def test_classes_that_are_defined_later_are_watched_and_stay_themselves() -> None:
    with hooked(distributions) as session:

        class Delta(Distribution):
            arg_constraints = {}  # noqa: RUF012 - as users write it
            marked: bool

            def __init_subclass__(cls, /, marked: bool = False, **kwargs: Any) -> None:
                super().__init_subclass__(**kwargs)
                cls.marked = marked

            def log_prob(self, value: Tensor) -> Tensor:
                "Says that all is well."
                return torch.zeros(len(value))

        class Marked(Delta, marked=True):
            pass

        Marked(validate_args=False).log_prob(torch.zeros(3))
        assert Marked.marked
        assert told(session, "logp")["dist"] == "Marked"
        assert str(inspect.signature(Delta.log_prob)) == "(self, value: 'Tensor') -> 'Tensor'"
        assert Delta.log_prob.__doc__ == "Says that all is well."
    assert not hasattr(Delta.log_prob, "__wrapped__")
    assert not hasattr(Normal.sample, "__wrapped__")
    assert "multinomial" not in vars(Tensor)
    assert "__init_subclass__" not in vars(Distribution)


def test_pickle_copy_vmap_torchscript_and_compile_work() -> None:
    with hooked(distributions) as session:
        dist = Normal(torch.zeros(2), torch.ones(2))
        assert pickle.loads(pickle.dumps(dist)).loc.tolist() == [0.0, 0.0]
        copy.deepcopy(dist)
        torch.func.vmap(lambda mean: Normal(mean, 1.0).log_prob(torch.tensor(0.0)))(torch.arange(3.0))

        def draw(weights: Tensor):  # type: ignore[no-untyped-def]
            return torch.multinomial(weights, 1)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            assert torch.jit.script(draw)(torch.ones(2, 3)).shape == (2, 1)
        net = nn.Linear(2, 3)

        def score(x: Tensor) -> Tensor:
            return Categorical(logits=net(x)).log_prob(torch.zeros(len(x)))

        # As the first compilation of a process leaves it: a whole graph has no room for checked arguments.
        torch.distributions.Distribution.set_default_validate_args(False)
        whole = torch.compile(score, backend="eager", fullgraph=True)
        whole(torch.ones(4, 2))
        assert session.audit is not None
        assert session.audit.events == []
        audit, session.audit = session.audit, None
        with torch._dynamo.config.patch(error_on_recompile=True):
            whole(torch.ones(4, 2))  # the end of an audit is no reason to compile again
        session.audit = audit
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()  # other tests ask whether anything was compiled in this process


def test_a_class_of_the_users_script_can_be_sent_to_another_process() -> None:
    import cloudpickle

    with hooked(distributions):

        class Mine(Normal):
            def log_prob(self, value: Tensor) -> Tensor:
                return super().log_prob(value)

        Mine.__module__ = Mine.log_prob.__module__ = "__main__"  # pickled by value, with our function in it
        again = cloudpickle.loads(cloudpickle.dumps(Mine))
        assert again(0.0, 1.0).log_prob(torch.tensor(0.0)) < 0


def test_a_sample_and_its_log_prob_in_one_call_are_told_as_both() -> None:
    """As distributions of TorchRL have it."""

    class Squashed(TransformedDistribution):
        def __init__(self, loc: Tensor) -> None:
            super().__init__(Independent(Normal(loc, 1.0), 1), [TanhTransform(cache_size=1)])

        def rsample_and_log_prob(self) -> tuple[Tensor, Tensor]:
            drawn = self.rsample()
            return drawn, self.log_prob(drawn)

    with hooked(distributions) as session:
        action, score = Squashed(torch.zeros(5, 2)).rsample_and_log_prob()
        assert (told(session, "sample")["dist"], told(session, "sample")["how"]) == ("Squashed", "rsample")
        assert told(session, "logp")["dist"] == "Squashed"
        assert arrays(session, "logp")["value"] == pytest.approx(action.numpy())
        assert arrays(session, "logp")["result"] == pytest.approx(score.numpy())
