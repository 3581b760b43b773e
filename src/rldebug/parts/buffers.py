"""Where experience is kept: `Replay`, `PrioritisedReplay` and `RolloutBuffer`.

Contiguous numpy arrays, allocated once; what comes out is always a copy, as torch tensors on the device asked for.
Never a `done`: `terminated` ends the return, `truncated` does not, so a target built from a batch bootstraps where it
should.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rldebug.parts.nested import each
from rldebug.parts.storage import Array, Column, Frames, Leaf, Shapes, allocate, at_least, on_device, same_layout

if TYPE_CHECKING:
    from gymnasium import Space


@dataclass(frozen=True)
class Sample:
    """A batch of `N` transitions. `obs`, `action` and `next_obs` are nested (dict, tuple) where the space is.

    With `n_step` above 1, `reward` is the discounted sum of the `m` rewards that follow `obs`, and `next_obs`,
    `terminated` and `truncated` are those of the `m`-th step; `m` is `n_step`, or less where the episode or the buffer
    ends before.
    """

    obs: Any  # (N, …)
    action: Any  # (N,) or (N, …)
    reward: Tensor  # (N,) float32
    next_obs: Any  # (N, …)
    terminated: Tensor  # (N,) bool
    truncated: Tensor  # (N,) bool
    discount: Tensor  # (N,) float32: γ^m, and 0 where terminated
    index: Tensor  # (N,) int64, always on the CPU: the number of the transition, counted from the first ever added
    weight: Tensor  # (N,) float32: importance weight; 1 where sampling is uniform


class Replay:
    """The last `capacity` transitions, sampled uniformly and with replacement.

        replay = Replay(100_000, env.single_observation_space, env.single_action_space, envs=8)
        replay.add(obs, action, reward, next_obs, terminated, truncated)
        batch = replay.sample(256)
        target = batch.reward + batch.discount * q_target(batch.next_obs).max(-1).values

    `discount` is `γ^m (1 − terminated)`: with it the target above is right for every `n_step`, at both kinds of ending.

    Parameters
    ----------
    capacity: transitions, over all environments; rounded down to a multiple of `envs`.
    n_step: rewards summed, along the same environment and episode, when sampling: only single steps are stored.
    frames: k, where observations are stacks `(k, …)` of uint8 frames that move on by one frame a step. Every frame is
        then stored once, and a transition holds the numbers of its k + 1 frames. An episode brings one frame more than
        it has steps (two, if padded with zeros). If episodes are so short that the room for frames is used up first,
        the oldest transitions are given up: `len` says how many can be sampled.
    folder: keep the storage in memory-mapped files there. One folder per buffer; to go on in a later process, open the
        same folder and load the `state_dict`.
    device: of the sampled tensors; the storage is always in host memory.

    Spaces may be Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple of such, nested. float64 is stored as
    float32.
    """

    def __init__(
        self,
        capacity: int,
        observation_space: Space[Any],
        action_space: Space[Any],
        *,
        envs: int = 1,
        n_step: int = 1,
        gamma: float = 0.99,
        frames: int = 0,
        folder: str | Path | None = None,
        device: str | torch.device = "cpu",
        seed: int | None = None,
    ) -> None:
        at_least("envs", envs, 1)
        at_least("capacity", capacity, envs, f": one transition for each of {envs} envs")
        at_least("n_step", n_step, 1)
        at_least("frames", frames, 0)
        if not 0.0 <= gamma <= 1.0:
            raise ValueError(f"gamma is {gamma}; a discount factor lies in [0, 1]")
        self.envs, self.n_step, self.gamma, self.device = envs, n_step, gamma, torch.device(device)
        self.steps = capacity // envs
        self.capacity = self.steps * envs
        self._cpu = self.device.type == "cpu"  # asked nine times a sample, which is not free
        self._rng = np.random.default_rng(seed)
        self._discounts = np.power(gamma, np.arange(n_step + 1))
        self._step = 0  # calls of `add`, ever
        self._oldest = 0  # the first of them whose transitions can still be sampled

        self._obs = Column.of("obs", observation_space, envs)
        self._action = Column.of("action", action_space, envs)
        self._reward = Leaf("reward", "reward", (envs,), np.dtype(np.float32))
        self._next_obs = Column.of("next_obs", observation_space, envs)
        self._terminated = Leaf("terminated", "terminated", (envs,), np.dtype(bool))
        self._truncated = Leaf("truncated", "truncated", (envs,), np.dtype(bool))
        self._frames = Frames(frames, self._obs, self.steps, envs) if frames else None
        leaves = [*self._action.leaves, self._reward, self._terminated, self._truncated]
        if self._frames is None:
            leaves += [*self._obs.leaves, *self._next_obs.leaves]
        shapes: Shapes = {leaf.key: ((self.steps, *leaf.shape), leaf.dtype) for leaf in leaves}
        if self._frames is not None:
            shapes |= self._frames.shapes
        self._layout = {"capacity": self.capacity, "envs": envs, "frames": frames} | {
            key: f"{dtype} {list(shape)}" for key, (shape, dtype) in shapes.items()
        }
        self._store = allocate(shapes, self._layout, folder)
        # (steps, envs, …) to be written, (steps · envs, …) to be read.
        self._flat = {leaf.key: self._store[leaf.key].reshape(self.capacity, *leaf.shape[1:]) for leaf in leaves}

    def __len__(self) -> int:
        """Transitions that can be sampled."""
        return (self._step - self._oldest) * self.envs

    @property
    def nbytes(self) -> int:
        """What the storage takes when full."""
        return sum(array.nbytes for array in self._store.values())

    def add(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any, truncated: Any) -> None:
        """One transition of every environment: arrays or tensors whose first axis is `envs`. All are copied.

        `next_obs` is the observation the action led to, at an ending the last one of the old episode. Gymnasium's
        vector environments in same-step autoreset return the first one of the new episode there, and the last one in
        `info["final_obs"]`: `rldebug.parts.vector.true_next(next_obs, info)` puts it in place, or by hand

            next_obs = next_obs.copy()
            for i in np.flatnonzero(info.get("_final_obs", [])):
                next_obs[i] = info["final_obs"][i]

        In next-step autoreset the step after an ending is no transition (its action is not played): use same-step.
        """
        # All is checked before anything is written: half a transition would stay behind in the oldest row.
        before, after = self._obs.checked(obs), self._next_obs.checked(next_obs)
        rows = self._action.checked(action)
        rows["reward"] = self._reward.checked(reward)
        rows["terminated"] = self._terminated.checked(terminated)
        rows["truncated"] = self._truncated.checked(truncated)
        store, slot = self._store, self._step % self.steps
        if self._frames is None:
            rows |= before | after
        else:
            self._frames.write(store, slot, before["obs"], after["next_obs"])
        for key, array in rows.items():
            store[key][slot] = array
        self._step += 1
        self._oldest = max(self._oldest, self._step - self.steps)
        if self._frames is not None:
            while self._frames.overwritten(store, self._oldest % self.steps):
                self._oldest += 1

    def sample(self, batch: int) -> Sample:
        """`batch` transitions, drawn uniformly, with replacement."""
        self._check_batch(batch)
        # Half the time of rng.integers; below 2^53, where no bias can be measured and the product never rounds up.
        index = (self._rng.random(batch) * len(self)).astype(np.int64) + self._oldest * self.envs
        return self._gather(index, index % self.capacity, np.ones(batch, np.float32))

    def _check_batch(self, batch: int) -> None:
        at_least("batch", batch, 1)
        if not len(self):
            raise ValueError("the buffer is empty: add() transitions before sampling")

    def _gather(self, index: NDArray[np.int64], row: NDArray[np.int64], weight: NDArray[np.float32]) -> Sample:
        flat = self._flat
        if self.n_step == 1:
            last, reward, discount = row, flat["reward"].take(row, 0, None, "clip"), self._discounts[1]
        else:
            last, reward, discount = self._walk(index)
        ends = flat["terminated"].take(last, 0, None, "clip")
        if self._frames is None:
            obs, next_obs = self._pick(self._obs, row), self._pick(self._next_obs, last)
        else:
            obs, next_obs = (self._take(*each) for each in self._frames.pick(self._store, row, last))
        return Sample(
            obs,
            self._pick(self._action, row),
            self._send(reward),
            next_obs,
            self._send(ends),
            self._take(flat["truncated"], last),
            self._send(np.multiply(~ends, discount, dtype=np.float32)),
            torch.from_numpy(index),
            self._send(weight),
        )

    def _walk(self, index: NDArray[np.int64]) -> tuple[Array, Array, Array]:
        """Up to `n_step` steps on: the row of the last of them, the discounted sum of their rewards, and `γ^m`."""
        number = index + self.envs * np.arange(self.n_step)[:, None]  # (n, N): an env's next is `envs` further on
        row = number % self.capacity
        on = number < self._step * self.envs  # after the newest of an env, the ring goes on with its oldest
        on[1:] &= ~(self._flat["terminated"][row[:-1]] | self._flat["truncated"][row[:-1]])
        np.logical_and.accumulate(on, out=on)
        steps = on.sum(0)
        # `where`, not a product with a flag: past the newest row there may be anything, and NaN times 0 is NaN.
        terms = np.where(on, self._flat["reward"][row], 0.0) * self._discounts[:-1, None]
        return row[steps - 1, np.arange(len(index))], terms.sum(0).astype(np.float32), self._discounts[steps]

    def _pick(self, column: Column, row: Array) -> Any:
        return column.join([self._take(self._flat[leaf.key], row) for leaf in column.leaves])

    def _take(self, source: Array, row: Array) -> Tensor:
        """The rows of `source`, as a fresh tensor on the device."""
        if self._cpu:
            return torch.from_numpy(source.take(row, 0, None, "clip"))
        if self.device.type != "cuda":
            return self._send(source.take(row, 0, None, "clip"))
        dtype = torch.from_numpy(source[:0]).dtype
        pinned = torch.empty((*row.shape, *source.shape[1:]), dtype=dtype, pin_memory=True)
        source.take(row, 0, pinned.numpy(), "clip")  # "raise", the default, would copy once more
        return pinned.to(self.device, non_blocking=True)  # torch keeps the pinned memory until the copy is done

    def _send(self, fresh: Array) -> Tensor:
        tensor = torch.from_numpy(fresh)
        return tensor if self._cpu else on_device(self.device, tensor)

    def state_dict(self) -> dict[str, Any]:
        """A copy of what is stored, and of the generator: after loading it, the same samples follow, bit for bit.

        Tensors, numbers, strings and dicts only, for `torch.load(weights_only=True)`. As large as the filled part.
        """
        data = {key: torch.from_numpy(self._store[key][:rows].copy()) for key, rows in self._written().items()}
        state = {"layout": dict(self._layout), "step": self._step, "oldest": self._oldest, "data": data}
        if self._frames is not None:
            state["frames"] = self._frames.state_dict()
        return state | {"rng": self._rng.bit_generator.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Of a buffer of the same layout (capacity, envs, spaces, frames); where it was stored does not matter."""
        same_layout("this state", state["layout"], self._layout)
        self._step, self._oldest = int(state["step"]), int(state["oldest"])
        if self._frames is not None:
            self._frames.load_state_dict(state["frames"])
        for key, rows in self._written().items():
            self._store[key][:rows] = state["data"][key].cpu().numpy()
        self._rng.bit_generator.state = dict(state["rng"])

    def _written(self) -> dict[str, int]:
        """Of each array, how much has been written so far."""
        written = dict.fromkeys(self._store, min(self._step, self.steps))
        if self._frames is not None:
            written["frame"] = min(self._frames.stored, self._frames.room)
        return written


class PrioritisedReplay(Replay):
    """Replay in proportion to `(|TD error| + eps)^alpha`, by a sum-tree; new transitions get the highest so far.

    batch = replay.sample(256, beta=0.4)
    loss = (batch.weight * td_error.square()).mean()
    replay.update(batch.index, td_error.abs())
    """

    def __init__(
        self,
        capacity: int,
        observation_space: Space[Any],
        action_space: Space[Any],
        *,
        alpha: float = 0.6,
        eps: float = 1e-6,
        envs: int = 1,
        n_step: int = 1,
        gamma: float = 0.99,
        frames: int = 0,
        folder: str | Path | None = None,
        device: str | torch.device = "cpu",
        seed: int | None = None,
    ) -> None:
        from rldebug.parts.kernels.sum_tree import SumTree

        if not (alpha >= 0.0 and eps > 0.0):
            raise ValueError(f"alpha is {alpha} and eps is {eps}; alpha must be at least 0, and eps above 0")
        super().__init__(
            capacity, observation_space, action_space, envs=envs, n_step=n_step, gamma=gamma, frames=frames,
            folder=folder, device=device, seed=seed,
        )  # fmt: skip
        self.alpha, self.eps = float(alpha), float(eps)
        self._tree = SumTree(self.capacity)
        self._highest = 1.0  # (|TD error| + eps)^alpha

    def add(self, obs: Any, action: Any, reward: Any, next_obs: Any, terminated: Any, truncated: Any) -> None:
        oldest = self._oldest
        super().add(obs, action, reward, next_obs, terminated, truncated)
        for step in range(oldest, self._oldest):  # can no longer be sampled
            self._tree.fill(step % self.steps * self.envs, self.envs, 0.0)
        self._tree.fill((self._step - 1) % self.steps * self.envs, self.envs, self._highest)

    add.__doc__ = Replay.add.__doc__

    def sample(self, batch: int, beta: float = 0.4) -> Sample:
        """`batch` transitions: one from each of `batch` equal shares of the sum of priorities, in order of storage.

        `weight` is `(1 / (len · P(i)))^beta`, divided by the highest in this batch (not in the buffer): at most 1.
        """
        self._check_batch(batch)
        if not 0.0 <= beta <= 1.0:
            raise ValueError(f"beta is {beta}; it lies in [0, 1], where 1 corrects for the sampling in full")
        share = (np.arange(batch) + self._rng.random(batch)) * (self._tree.total / batch)
        row, priority = self._tree.find(share)
        newest = self._step * self.envs - 1
        index = newest - (newest - row) % self.capacity
        weight = np.power(priority.min() / priority, beta)  # len and the sum of priorities cancel out
        return self._gather(index, row, weight.astype(np.float32))

    def update(self, index: Any, priority: Any) -> None:
        """Set the priorities of sampled transitions: `index` as sampled, `priority` their |TD error|, both `(N,)`.

        Transitions that were overwritten since are passed over. An index given twice gets the last of its priorities.
        """
        index, priority = (each.numpy(force=True) if isinstance(each, Tensor) else each for each in (index, priority))
        number = np.ascontiguousarray(index, np.int64)
        error = np.ascontiguousarray(priority, np.float64)
        if number.ndim != 1 or number.shape != error.shape:
            raise ValueError(f"index has shape {number.shape} and priority {error.shape}; both must be (N,)")
        first, end = self._oldest * self.envs, self._step * self.envs
        highest, wrong = self._tree.renew(number, error, first, end, self.alpha, self.eps)
        if wrong >= 0 and not 0 <= number[wrong] < end:
            raise ValueError(f"index[{wrong}] is {number[wrong]}, of {end} transitions added; hand over Sample.index")
        if wrong >= 0:
            why = "each must be finite and at least 0: hand over td_error.abs()"
            raise ValueError(f"priority[{wrong}] is {error[wrong]}; {why}")
        self._highest = max(self._highest, highest)

    def state_dict(self) -> dict[str, Any]:
        priority = torch.from_numpy(self._tree.priority[: min(self._step, self.steps) * self.envs].copy())
        own = {"alpha": self.alpha, "highest": self._highest, "priority": priority}
        return super().state_dict() | own

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state.get("alpha") != self.alpha:
            raise ValueError(f"this state has alpha = {state.get('alpha', 'none')}; this buffer has {self.alpha}")
        super().load_state_dict(state)
        self._highest = float(state["highest"])
        self._tree.priority[:] = 0.0
        self._tree.priority[: len(state["priority"])] = state["priority"].cpu().numpy()
        self._tree.rebuild()


class RolloutBuffer:
    """`steps` steps of `envs` environments, time-major, for algorithms that learn from what they have just played.

        buffer.add(obs=obs, action=action, reward=reward, terminated=terminated, truncated=truncated,
                   value=value, logp=logp)
        if buffer.full:
            rollout = buffer.rollout()
            advantage, target = gae(...)
            batch = RolloutBuffer.flatten(rollout | {"advantage": advantage, "target": target})
            for epoch in range(4):
                for minibatch in RolloutBuffer.minibatches(batch, 64):
                    ...
            buffer.clear()

    `extras` are the names of further numbers per step, `(envs,)` float32.
    """

    def __init__(
        self,
        steps: int,
        observation_space: Space[Any],
        action_space: Space[Any],
        *,
        envs: int,
        extras: tuple[str, ...] = ("value", "logp"),
        device: str | torch.device = "cpu",
    ) -> None:
        at_least("steps", steps, 1)
        at_least("envs", envs, 1)
        self.steps, self.envs, self.device = steps, envs, torch.device(device)
        self._count = 0
        number, flag = np.dtype(np.float32), np.dtype(bool)
        scalars = {"reward": number, "terminated": flag, "truncated": flag}
        for name in extras:
            if name in ("obs", "action", *scalars):
                raise ValueError(f"extras has {name!r}, which is always there, or is there twice")
            scalars[name] = number
        self._columns = {"obs": Column.of("obs", observation_space, envs)}
        self._columns["action"] = Column.of("action", action_space, envs)
        for name, dtype in scalars.items():
            self._columns[name] = Column(None, (Leaf(name, name, (envs,), dtype),))
        self._store = {
            leaf.key: np.empty((steps, *leaf.shape), leaf.dtype)
            for column in self._columns.values()
            for leaf in column.leaves
        }

    def __len__(self) -> int:
        """Steps added since the last `clear`."""
        return self._count

    @property
    def full(self) -> bool:
        return self._count == self.steps

    def add(self, **fields: Any) -> None:
        """One time step of every environment: `obs`, `action`, `reward`, `terminated`, `truncated` and the extras.

        Arrays or tensors whose first axis is `envs`; all are copied. `obs` is what the action was chosen from.
        """
        if self._count == self.steps:
            raise ValueError(f"the buffer is full ({self.steps} steps): take rollout(), then clear()")
        if fields.keys() != self._columns.keys():
            raise TypeError(f"add() was given {', '.join(fields)}; it takes {', '.join(self._columns)}")
        for name, column in self._columns.items():
            for key, array in column.checked(fields[name]).items():
                self._store[key][self._count] = array
        self._count += 1

    def clear(self) -> None:
        self._count = 0

    def rollout(self) -> dict[str, Any]:
        """The steps so far as tensors `(T, B, …)` on the device: copies, which later steps do not change."""
        if not self._count:
            raise ValueError("the buffer is empty: add() steps first")
        return {
            name: column.join([self._copy(self._store[leaf.key]) for leaf in column.leaves])
            for name, column in self._columns.items()
        }

    def _copy(self, array: Array) -> Tensor:
        return on_device(self.device, torch.from_numpy(array[: self._count].copy()))

    @staticmethod
    def flatten(rollout: Mapping[str, Any]) -> dict[str, Any]:
        """`(T, B, …)` to `(T·B, …)`, every tensor of a dict, nested or not."""
        flat: dict[str, Any] = each(lambda tensor: tensor.flatten(0, 1), rollout)
        return flat

    @staticmethod
    def minibatches(
        batch: Mapping[str, Any], size: int, *, generator: torch.Generator | None = None
    ) -> Iterator[dict[str, Any]]:
        """One epoch over tensors `(N, …)` in random order: dicts of `(size, …)`; none is left out, the last is shorter.

        All is shuffled once, and minibatches are slices of that copy, far cheaper than picking rows for each of them.
        Without a `generator`, torch's global one is used.
        """
        at_least("size", size, 1)
        tensors = list(_tensors(batch))
        counts = sorted({len(tensor) for tensor in tensors})
        if len(counts) != 1 or not counts[0]:
            raise ValueError(f"the tensors have {counts} rows; all must have the same number, above 0: flatten() first")
        device = tensors[0].device
        order = torch.randperm(counts[0], generator=generator, device=generator.device if generator else device)
        order = order if order.device == device else on_device(device, order)
        shuffled = each(lambda tensor: tensor.index_select(0, order), batch)

        def piece(start: int) -> dict[str, Any]:
            cut: dict[str, Any] = each(lambda tensor: tensor[start : start + size], shuffled)
            return cut

        return map(piece, range(0, counts[0], size))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for part in value:
            yield from _tensors(part)
    else:
        yield value
