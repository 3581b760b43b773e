"""Rows that a library normalises when they are sampled: VecNormalize of Stable-Baselines3, with a replay buffer.

The buffer keeps observations and rewards as the environment gave them. They are normalised once more in each batch, by
statistics that have moved on since: the network is given rows that nobody was ever handed. So it is remembered which
row became which when the environment was stepped; a row of a batch is known by what it was before.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_calls import shared_by
from rldebug.capture.fingerprints import flat, row_fingerprints
from rldebug.capture.imports import when_imported
from rldebug.capture.stand_in import stand_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "networks"
ROWS = 1 << 16  # that are remembered
_MODULE = "stable_baselines3.common.vec_env.vec_normalize"


class Normalised:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.here = shared_by(session.switch, session.told).here
        self.became: dict[int, int] = {}  # fingerprint as the environment gave it -> as the program was handed it

    def normalised(self, given: Any, made: Any) -> None:
        before, after = _flat(given), _flat(made)
        if before is None or after is None or before.shape != after.shape:
            return
        if self.here.inside:  # a step or a reset is under way: it will be handed over
            self._remember(row_fingerprints(before), row_fingerprints(after))
        elif self.session.audit is not None:
            with self.session.timed():
                self._recognise(before, after)

    def restored(self, given: Any, made: Any) -> None:
        """The way back, that last observations of episodes go: not every bit is as it was."""
        before, after = flat(given), flat(made)
        if not self.here.inside and before is not None and after is not None:
            self._remember(row_fingerprints(before.reshape(1, -1)), row_fingerprints(after.reshape(1, -1)), back=True)

    def rewarded(self, given: Any, made: Any) -> None:
        audit = self.session.audit
        if audit is None or self.here.inside or not isinstance(made, np.ndarray) or made.size < 4:
            return
        if isinstance(given, np.ndarray) and given.size == made.size:
            columns = {"given": given.ravel().astype(np.float64), "used": made.ravel().astype(np.float64)}
            audit.event("rescaled", {}, columns)

    def _remember(self, before: list[int], after: list[int], back: bool = False) -> None:
        if len(self.became) >= ROWS:
            for each in list(islice(self.became, ROWS // 2)):
                del self.became[each]
        self.became.update(zip(after, before, strict=True) if back else zip(before, after, strict=True))

    def _recognise(self, given: NDArray[Any], made: NDArray[Any]) -> None:
        before = [self.became.get(each, 0) for each in row_fingerprints(given)]
        ids = self.session.log.ids_of(before)
        aliases = self.session.matcher.aliases
        for fp, id in zip(row_fingerprints(made), ids.tolist(), strict=True):
            if id >= 0:
                aliases[fp] = id


def _flat(value: Any) -> NDArray[Any] | None:
    """A row for each observation; of observations in parts these one after the other, as the log has them."""
    if isinstance(value, dict):
        parts = [_flat(each) for each in value.values()]
        rows = [each.astype(np.float32) for each in parts if each is not None]
        if not rows or len(rows) < len(parts) or len({len(each) for each in rows}) > 1:
            return None
        return np.concatenate(rows, axis=1)
    if not isinstance(value, np.ndarray) or value.ndim < 1 or value.dtype.kind not in "fiu" or not value.size:
        return None
    return value.reshape(len(value), -1)


def install(session: Session) -> None:
    watch = Normalised(session)
    hooks = {"normalize_obs": watch.normalised, "unnormalize_obs": watch.restored, "normalize_reward": watch.rewarded}

    def cover(module: ModuleType) -> None:
        for name, look in hooks.items():
            session.switch.replace(GROUP, module.VecNormalize, name, partial(make, look))

    def make(look: Any, original: Any) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            given = args[0] if args else next(iter(kwargs.values()), None)
            session.switch.guard(GROUP, look, given, result)
            return result

        return stand_in(original, method)

    when_imported(session.switch, GROUP, _MODULE, cover)
