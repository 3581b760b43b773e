"""Running mean and variance of what comes in batches or one by one, and what is normalised with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.oracles.material.normalisers import BATCHES, FED_BATCHES, FED_ROWS, ROWS, adapt
from rldebug.oracles.material.running import before_last, moments, reference, variant
from rldebug.oracles.oracle import Case, Mistake, Oracle, Output, Quantity, Style, floats

_HISTORY = frozenset({BATCHES, ROWS, FED_BATCHES, FED_ROWS})


def told(case: Case, bound: frozenset[str]) -> Case:
    return case.but(
        rows=bool({ROWS, FED_ROWS} & bound), fed=bool({FED_BATCHES, FED_ROWS} & bound), function=not _HISTORY & bound
    )


def fair(case: Case, bound: frozenset[str]) -> bool:
    """One row at a time where the function takes one."""
    if _HISTORY & bound:
        return True
    return len(case["batches"]) > 1 and ("row" not in bound or len(case["batches"][-1]) == 1)


def cases() -> list[Case]:
    small = [[[1, 2], [3, 6]], [[5, 1], [2, 3], [4, 7]]]
    return [
        _case("one batch of two rows", small[:1], [[2, 4], [4, 2]]),
        _case("two batches, of two and of three rows", small, [[2, 4], [5, 1]]),
        _case("a batch of three rows, then one row", [small[1], [[9, 0]]], [[1, 2], [6, 3]]),
        _case("three batches", [*small, [[8, -3], [0, 4], [1, 1], [7, 2]]], [[0, 0], [3, 5]]),
        _case(
            "a feature that is far from 0", [[[101, 1], [103, 2]], [[99, 4], [105, 3], [102, 0]]], [[100, 2], [104, 1]]
        ),
        _case("a feature that never changes", [[[1, 7], [2, 7]], [[4, 7], [3, 7], [6, 7]]], [[2, 7], [5, 7]]),
    ]


def _case(name: str, batches: Any, queries: Any) -> Case:
    arrays = [floats(each) for each in batches]
    sizes = {"D": arrays[0].shape[1], "N": len(arrays[-1]), "Q": len(queries)}
    return Case(name, {"batches": arrays, "queries": floats(queries), "sizes": sizes})


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(-8, 8).map(float), min_size=2, max_size=2)
    first = draw(st.lists(numbers, min_size=2, max_size=3))
    second = draw(st.lists(numbers, min_size=1, max_size=4))
    spread = [[1.0, -1.0], [-2.0, 3.0]]  # no feature is without spread: that is a case of its own
    return _case("batches drawn at random", [spread, first, second], draw(st.lists(numbers, min_size=2, max_size=2)))


def _styles() -> tuple[Style, ...]:
    made = []
    usual, seen = (1e-12, 0.0), ((1e-12, 0.0), (0.0, 1e-2), (1e-2, 0.0))
    known = [(0.0, 0, each) for each in seen] + [
        (1e-4, 0, each) for each in (*seen, (1e-4, 0.0), (1e-5, 0.0), (0.0, 1e-3))
    ]
    known += [(0.0, 1, usual), (0.0, 1, (0.0, 1e-2)), (1e-2, 0, usual), (1.0, 0, usual), (1e-3, 0, usual)]
    for prior, ddof, (inside, outside) in known:
        words = [] if not prior else [f"the count begins at {prior:g}"]
        words += ["÷(N−1)"] if ddof else []
        words += [f"ε = {max(inside, outside):g}"] if max(inside, outside) > 1e-6 else []
        knobs = {"prior": prior, "ddof": ddof, "inside": inside, "outside": outside}
        made.append(Style(", ".join(words) or "usual", knobs))
    made.append(Style("the count begins at 1, with nothing in it", {"prior": 1.0, "prior_var": 0.0}))
    return (*made, Style("normalised with what was known before", {"old": True}))


# What is added to a standard deviation of 0 shows where the mean is not subtracted.
_TINY: tuple[dict[str, float], ...] = (
    {},
    {"inside": 1e-8},
    {"inside": 0.0, "outside": 1e-8},
    {"inside": 1e-5},
    {"inside": 0.0, "outside": 1e-6},
)


def _state_of(name: str) -> Any:
    return lambda case: before_last(case)[name] if len(case["batches"]) > 1 else moments(list(case["batches"][0]))[name]


def _batch_of(name: str) -> Any:
    return lambda case: moments(list(case["batches"][-1]))[name]


_X = (
    "x batch obs data arr array values samples observations observation batch_obs input inputs states state "
    "new_data xs X sample value new_value new_values batch_x"
)

RUNNING_NORMALISER = Oracle(
    name="running-normaliser",
    aliases="running-normalizer running-mean-std normalizer normaliser obs-normaliser obs-normalizer "
            "running-mean-and-std runningmeanstd welford",
    code="NRM100",
    summary="Running normaliser: mean and variance of all rows seen so far, and (x − mean) / std.",
    formula="mean' = mean + δ n_b / (n + n_b),  M2' = M2 + M2_b + δ² n n_b / (n + n_b),  δ = mean_b − mean",
    example="class RunningMeanStd: update(x), mean, var, normalize(x); or def normalize(x, mean, var)",
    references="Chan, Golub and LeVeque, *Updating formulae and a pairwise algorithm for computing sample variances*.",
    quantities=(
        *(
            Quantity(name, name, None, "object", of=lambda case: (case["batches"], case["queries"]),
                     meaning="batches of rows, then rows to normalise")
            for name in sorted(_HISTORY)
        ),
        Quantity("x", _X, "ND", of=lambda case: case["batches"][-1], meaning="a batch of rows"),
        Quantity("row", _X, "D", of=lambda case: case["batches"][-1][-1], meaning="one row"),
        Quantity("mean", "mean mu running_mean old_mean m avg obs_mean mean_a mean_old prev_mean loc average "
                         "current_mean x_bar", "D", of=_state_of("mean")),
        Quantity("var", "var variance running_var sigma2 old_var obs_var var_a v var_old prev_var", "D",
                 of=_state_of("var")),
        Quantity("std", "std sigma running_std stddev obs_std scale sd", "D",
                 of=lambda case: np.sqrt(_state_of("var")(case))),
        Quantity("m2", "m2 M2 S s M_2 sum_sq squares old_s ssd sq_diff", "D", of=_state_of("m2")),
        Quantity("count", "count n num N t counts count_a old_count k total_count steps n_seen num_samples prev_count "
                          "n_a", "", "int",
                 of=lambda case: float(_state_of("count")(case))),
        Quantity("batch_mean", "batch_mean new_mean mean_b b_mean mean_batch other_mean sample_mean x_mean", "D",
                 of=_batch_of("mean")),
        Quantity("batch_var", "batch_var new_var var_b b_var var_batch other_var sample_var x_var batch_variance",
                 "D", of=_batch_of("var")),
        Quantity("batch_count", "batch_count new_count count_b b_count n_b other_count batch_size batch_n m", "", "int",
                 of=lambda case: float(len(case["batches"][-1]))),
        Quantity("epsilon", "eps epsilon", "", "int", of=lambda case: 1e-8),
        Quantity("clip", "clip clip_range clip_obs clip_value clip_max max_value bound limit", "", "int",
                 of=lambda case: 10.0),
    ),
    outputs=(
        Output("mean", "mean new_mean mu", "D"), Output("var", "var variance new_var", "D"), Output("count",
        "count n total new_count tot_count"),
        Output("m2", "m2 s", "D"), Output("normalised", "normalised", "QD"), Output("mean_afterwards",
        "mean_afterwards", "D"),
        Output("scaled", "scaled normalized normed z", "ND"), Output("scaled_row", "scaled_row", "D"),
    ),
    required=("|".join([*sorted(_HISTORY), "x", "row", "batch_mean"]), "|".join([*sorted(_HISTORY), "mean"])),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    adapt=adapt,
    layouts=("as is",),
    tolerance=2e-3,
    styles=_styles(),
    mistakes=(
        Mistake(
            "NRM101", "running-normaliser-forgets", "Only the last batch counts: what came before is forgotten.",
            knobs=({"memory": "last"}, {"memory": "count kept"}),
            wrong="self.mean = x.mean(0); self.var = x.var(0)",
            right="self.mean = self.mean + delta * n / (self.count + n); self.count += n",
            harm="The same observation is normalised differently at every step; the policy sees a world that shakes.",
            fix="merge the batch with what is known, and add its size to the count",
        ),
        Mistake(
            "NRM102", "running-normaliser-counts-batches", "The count grows by 1 for each batch, not by its rows.",
            knobs={"memory": "batches counted"},
            wrong="self.count += 1",
            right="self.count += len(x)",
            harm="Late batches weigh more than early ones: the statistics never settle.",
            fix="add the number of rows",
        ),
        Mistake(
            "NRM103", "running-normaliser-cross-term-missing", "The variance lacks the distance of the two means.",
            knobs={"cross": "missing"},
            wrong="m2 = self.var * self.count + batch_var * n",
            right="m2 = self.var * self.count + batch_var * n + delta ** 2 * self.count * n / total",
            harm="The variance is too small, and 0 with one row at a time: normalised values are too large.",
            fix="add δ² · count · n / total",
        ),
        Mistake(
            "NRM104", "running-normaliser-cross-term-wrong", "The distance of the two means is weighed wrongly.",
            knobs=({"cross": "batch missing"}, {"cross": "count missing"}, {"cross": "not squared"},
                   {"cross": "too late"}),
            wrong="m2 = m_a + m_b + delta ** 2 * self.count / total",
            right="m2 = m_a + m_b + delta ** 2 * self.count * n / total",
            harm="The variance is wrong wherever the mean has moved.",
            fix="add δ² · count · n / total",
        ),
        Mistake(
            "NRM105", "running-normaliser-same-difference-twice", "The old (or the new) mean is used in both factors.",
            knobs=({"cross": "old twice"}, {"cross": "new twice"}),
            wrong="self.S += (x - self.mean) ** 2",
            right="self.S += (x - old_mean) * (x - self.mean)",
            harm="The variance is too large (or too small), most of all at the start.",
            fix="multiply the difference from the old mean by that from the new one",
        ),
        Mistake(
            "NRM106", "running-normaliser-mean-of-means", "Means are averaged whatever the number of rows.",
            knobs={"average": "of averages"},
            wrong="self.mean = (self.mean + x.mean(0)) / 2",
            right="self.mean += (x.mean(0) - self.mean) * len(x) / (self.count + len(x))",
            harm="The last batch weighs as much as all before it: the statistics never settle.",
            fix="weigh by the number of rows",
        ),
        Mistake(
            "NRM107", "running-normaliser-mean-weighed-wrongly",
            "The mean moves by another share than n / (count + n).",
            knobs=({"average": "one"}, {"average": "count"}),
            wrong="self.mean += delta / total",
            right="self.mean += delta * n / total",
            harm="The mean lags behind, so normalised values are not centred.",
            fix="multiply δ by the rows of the batch, and divide by all rows",
        ),
        Mistake(
            "NRM108", "running-normaliser-axis-missing", "Mean and variance are taken over all features together.",
            knobs={"axis": "all"},
            wrong="x.mean(), x.var()",
            right="x.mean(axis=0), x.var(axis=0)",
            harm="A feature of large numbers drowns all others.",
            fix="take mean and variance over the rows alone: axis=0",
            seen_in="vwxyzjn/cleanrl commit fc5f80c8: statistics over the features of one observation.",
        ),
        Mistake(
            "NRM109", "running-normaliser-variance-not-divided", "The sum of squares is used as the variance.",
            knobs={"spread": "not divided"},
            wrong="self.var = self.S",
            right="self.var = self.S / self.n",
            harm="Normalised values shrink towards 0 as training goes on.",
            fix="divide by the count",
        ),
        Mistake(
            "NRM110", "running-normaliser-mean-not-subtracted",
            "The variance is the mean of squares: mean² is not subtracted.",
            knobs={"spread": "second moment"},
            wrong="self.var = (x ** 2).mean(0)",
            right="self.var = (x ** 2).mean(0) - self.mean ** 2",
            harm="Features far from 0 become constants after normalising.",
            fix="subtract the square of the mean",
        ),
        Mistake(
            "NRM111", "running-normaliser-divides-by-variance", "It divides by the variance, not by its root.",
            knobs=({"root": False}, {"root": False, "seen_var": "squared"}),
            wrong="return (x - self.mean) / (self.var + eps)",
            right="return (x - self.mean) / np.sqrt(self.var + eps)",
            harm="Features of large spread vanish, and those of small spread explode.",
            fix="take the square root",
        ),
        Mistake(
            "NRM112", "running-normaliser-not-centred", "The mean is not subtracted.",
            knobs=tuple({"formula": "not centred", **tiny} for tiny in _TINY),
            wrong="return x / std",
            right="return (x - mean) / std",
            harm="Features far from 0 stay far from 0.",
            fix="subtract the mean",
            fine="For rewards, which keep their sign that way.",
        ),
        Mistake(
            "NRM113", "running-normaliser-parentheses-missing", "Only the mean is divided by the standard deviation.",
            knobs=tuple({"formula": "precedence", **tiny} for tiny in _TINY),
            wrong="return x - mean / std",
            right="return (x - mean) / std",
            harm="Features keep their scale.",
            fix="put x − mean in parentheses",
        ),
        Mistake(
            "NRM114", "running-normaliser-multiplies", "It multiplies by the standard deviation.",
            knobs={"formula": "times"},
            wrong="return (x - mean) * std",
            right="return (x - mean) / std",
            harm="Features of large spread become larger still.",
            fix="divide",
        ),
        Mistake(
            "NRM115", "running-normaliser-epsilon-missing",
            "A feature that never changes gives NaN: 0 is divided by 0.",
            knobs={"epsilon": False},
            wrong="return (x - mean) / np.sqrt(var)",
            right="return (x - mean) / np.sqrt(var + 1e-8)",
            harm="One constant feature makes the whole network NaN.",
            fix="add a small number below the root",
        ),
        Mistake(
            "NRM116", "running-normaliser-clipped-first", "Raw values are clipped before they are normalised.",
            knobs=({"clip_first": 5.0}, {"clip_first": 10.0}),
            wrong="return (np.clip(x, -10, 10) - mean) / std",
            right="return np.clip((x - mean) / std, -10, 10)",
            harm="Features far from 0 all become the same number.",
            fix="normalise first",
        ),
        Mistake(
            "NRM117", "running-normaliser-updates-when-asked", "Normalising also updates the statistics.",
            knobs={"updates_when_asked": True},
            wrong="def normalize(self, x): self.update(x); …",
            right="def normalize(self, x): return (x - self.mean) / std",
            harm="Rows are counted twice in training, and evaluation changes the policy's inputs.",
            fix="update in update() alone",
        ),
        Mistake(
            "NRM118", "running-normaliser-nan-on-one-row", "A batch of one row gives NaN: its variance is divided by "
                                                           "0.",
            knobs={"batch_ddof": 1},
            wrong="batch_var = x.var(dim=0)  # torch divides by N − 1",
            right="batch_var = x.var(dim=0, unbiased=False)",
            harm="With one environment all statistics are NaN from the first step; with few they are too large.",
            fix="divide by N in the variance of a batch",
            fine="Where batches are large.",
        ),
    ),
)  # fmt: skip
