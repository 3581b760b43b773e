"""An n-step replay buffer under audit: each row is held against the window of steps it stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rldebug.evidence.verification import Table
from rldebug.oracles.audit.coding import Code, Form, Given, Report, Step, said, scalar, table
from rldebug.oracles.audit.drive import GAMMA, Played, Scene, has_envs, play
from rldebug.oracles.audit.make import Stuck
from rldebug.oracles.audit.names import MAKE
from rldebug.oracles.audit.read import Reading, distinct, named, read, stacked
from rldebug.oracles.audit.rows import HOW
from rldebug.oracles.names import plain

N = 3
TIMES = 140  # samples of 4 rows: a row of 16 is left out of all of them less than once in 10^14
ORDER = ("n_step", "capacity")
SCENES = (
    Scene("8 steps of one long episode, n = 3", 8, capacity=32, endings=False, n_step=N),
    Scene("15 steps of 6 episodes, n = 3", 15, capacity=32, n_step=N),
    Scene("13 steps of one long episode in room for 8, n = 3", 13, capacity=8, endings=False, n_step=N),
    Scene("2 environments, 9 steps of each, n = 3", 9, capacity=64, envs=2, n_step=N),
)


def audit(target: Any, form: Form, at: int, given: Given) -> Report:
    report = Report(convention=form.said())
    for number, scene in enumerate(SCENES):
        if scene.envs > 1 and not (form.batched and has_envs(target, given, ORDER)):
            continue
        played = play(target, scene, form, given, times=TIMES, at=at, order=ORDER)
        report.mapping = report.mapping or played.mapping
        if played.raised:
            if number == 0:
                report.stuck = f"{played.phase} raised {played.raised}, on {scene.name}"
                return report
            report.add("", f"{played.phase} raised {played.raised}, on {scene.name}", "a sample")
            continue
        reading = read(distinct(stacked(played.calls))[0], form, scalars=())
        if reading.obs is None or reading.next_obs is None:
            report.stuck = (
                "what it returns is not understood: expected observations and next observations, "
                f"{played.rows} rows of each"
            )
            return report
        windows = Windows(scene, played, reading, *_settings(played.buffer, report))
        report.scenes += 1
        before = list(report.faults)
        windows.check(report)
        new = report.faults[len(before) :]
        if any(fault.name == "envs-mixed" for fault in new):  # all else follows from it
            report.faults = before + [fault for fault in new if fault.name == "envs-mixed"]
    return report


def _settings(buffer: Any, report: Report) -> tuple[int, float]:
    """Its n and γ: those it was given, or those it has."""

    def held(what: str) -> float | None:
        names = {plain(name) for name in MAKE[what].split()} - {"n", "g", "steps"}
        own = vars(buffer) if hasattr(buffer, "__dict__") else {}
        found = [each for key, each in own.items() if plain(key) in names and type(each) in (int, float)]
        return float(found[0]) if found else None

    told = " ".join(report.mapping.values())
    n = N if f"n_step = {N}" in told else held("n_step")
    gamma = GAMMA if f"gamma = {GAMMA}" in told else held("gamma")
    if n is None:
        raise Stuck("nothing says how many steps it sums: expected n_step in its constructor, or as an attribute")
    if gamma is None:
        raise Stuck("nothing says by what it discounts: expected gamma in its constructor, or as an attribute")
    return int(n), gamma


Way = Callable[[Step], float]


@dataclass
class Windows:
    """The rows that came back, each a window of up to n steps."""

    scene: Scene
    played: Played
    reading: Reading
    n: int
    gamma: float

    def __post_init__(self) -> None:
        self.steps = self.scene.track.all
        self.at = {(step.env, step.time): step for step in self.steps}
        self.by_code = {step.code: step for step in self.steps}
        self.by_number = {step.number: step for step in self.steps}
        self.last = self.scene.length - 1

    def window(self, step: Step, stop: str = "done", n: int | None = None) -> list[Step]:
        """Its steps: up to n, to the end of the episode, to the newest step."""
        found: list[Step] = []
        for j in range(self.n if n is None else n):
            each = self.at.get((step.env, step.time + j))
            if each is None:
                break
            found.append(each)
            if (stop == "done" and each.done) or (stop == "terminated" and each.terminated):
                break
        return found

    def sum(self, steps: list[Step], power: Callable[[int, int], int] = lambda j, m: j) -> float:
        return float(sum(self.gamma ** power(j, len(steps)) * scalar("reward", s.number) for j, s in enumerate(steps)))

    def check(self, report: Report) -> None:
        reading = self.reading
        assert reading.obs is not None and reading.next_obs is not None
        empty = [row for row in range(reading.rows) if reading.empty[row]]
        if empty:
            report.add("", f"{len(empty)} different rows hold zeros, on {self.scene.name}", "only rows that were added")
        rows = [(row, self.by_code[c]) for row, c in enumerate(reading.obs) if c in self.by_code and row not in empty]
        column = self._rewards(rows)
        rows = self._anchored(rows, column, report)
        if not rows:
            report.add("", "no row belongs to any step that was added", "rows that were added")
            return
        if column is None:
            report.add("", f"no field holds the sum of rewards, on {self.scene.name}", "r_t + γ r_{t+1} + γ² r_{t+2}")
        else:
            self._judge(report, rows, column, self._sums(), "reward", self._right_sum)
        self._next(report, rows)
        self._flags(report, rows)
        self._discount(report, rows)
        self._coverage(report, rows)

    def _rewards(self, rows: list[tuple[int, Step]]) -> Any:
        """The column whose cells are sums of rewards, as far as can be told."""
        found, most = None, 0
        for path, values in self.reading.raw.items():
            known = named(path)
            if path in (*self.reading.where.values(), *self.reading.flags) or values.shape[1] != 1:
                continue
            if known not in (None, "reward", "return"):
                continue
            column = values[:, 0].astype(float)
            ways = [self._right_sum, *self._sums().values()]
            hits = sum(any(_close(column[row], way(step)) for way in ways) for row, step in rows) + (known == "reward")
            if hits > most:
                found, most = column, hits
                self.reading.where["reward"] = path
        return found

    def _anchored(self, rows: list[tuple[int, Step]], column: Any, report: Report) -> list[tuple[int, Step]]:
        """Rows by the step they start from; where obs and action disagree, the reward decides."""
        actions = self.reading.action
        if actions is None:
            if "action" in self.played.takes and "action" not in self.reading.cut:
                report.add("", "no field of what came back holds the actions", "the actions that were added")
            return rows
        pairs = [(row, step, self.by_number.get(actions[row] or 0)) for row, step in rows]
        off = [(row, step, acted) for row, step, acted in pairs if acted is None or acted.number != step.number]
        if not off:
            return rows
        row, step, acted = off[0]
        by_obs = sum(column is not None and _close(column[r], self._right_sum(s)) for r, s, _ in off)
        by_action = sum(
            column is not None and a is not None and _close(column[r], self._right_sum(a)) for r, _, a in off
        )
        if by_action > by_obs and all(a is not None for _, _, a in pairs):
            self._fault(report, "", row, acted or step, "obs of another step than the action")
            return [(r, a) for r, _, a in pairs if a is not None]
        lasts = all(a in (self.window(s)[-1], self.window(s, "nothing")[-1]) for _, s, a in off)
        self._fault(report, "action-of-last-step" if lasts else "", row, step, "the action of another step")
        return rows

    def _right_sum(self, step: Step) -> float:
        return self.sum(self.window(step))

    def _sums(self) -> dict[str, Way]:
        """Sums of rewards with a known mistake."""
        capacity = self.scene.capacity // self.scene.envs

        def round_(step: Step) -> float:
            """Over the write position: after the newest comes the oldest."""
            found: list[Step] = []
            for j in range(self.n):
                time = step.time + j
                each = self.at.get((step.env, time if time <= self.last else time - capacity))
                if each is None or (found and found[-1].done):
                    break
                found.append(each)
            return self.sum(found)

        def neighbours(step: Step) -> float:
            order = [self.by_number[k] for k in range(step.number, step.number + self.n) if k in self.by_number]
            until = next((k for k, each in enumerate(order) if each.done), len(order))
            return self.sum(order[: until + 1])

        return {
            "crosses-episodes": lambda s: self.sum(self.window(s, "nothing")),
            "crosses-truncation": lambda s: self.sum(self.window(s, "terminated")),
            "crosses-write-position": round_,
            "undiscounted": lambda s: self.sum(self.window(s), lambda j, m: 0),
            "gamma-one-power-too-many": lambda s: self.sum(self.window(s), lambda j, m: j + 1),
            "gamma-powers-reversed": lambda s: self.sum(self.window(s), lambda j, m: m - 1 - j),
            "gamma-not-raised": lambda s: self.sum(self.window(s), lambda j, m: min(j, 1)),
            "first-reward-only": lambda s: self.sum([s]),
            "last-reward-missing": lambda s: self.sum(self.window(s, n=self.n - 1)),
            "one-step-too-many": lambda s: self.sum(self.window(s, n=self.n + 1)),
            "envs-mixed": neighbours,
        }

    def _free(self, step: Step) -> bool:
        """The newest rows may be cut short where the data ends: what they hold there is up to the buffer."""
        return len(self.window(step)) < self.n and not self.window(step)[-1].done

    def _shorter(self, step: Step) -> list[list[Step]]:
        """What is right for it: the whole window; near the newest step, also less of it."""
        whole = self.window(step)
        return [whole[: k + 1] for k in range(len(whole))] if self._free(step) else [whole]

    def _judge(
        self, report: Report, rows: list[tuple[int, Step]], cells: Any, ways: dict[str, Way], what: str, right: Way
    ) -> None:
        off = [(r, s) for r, s in rows if not any(_close(cells[r], self.sum(each)) for each in self._shorter(s))]
        if not off:
            return
        for name, way in ways.items():
            if all(_close(cells[r], way(s)) for r, s in off) and all(
                _close(cells[r], way(s)) or self._free(s) for r, s in rows
            ):
                row, step = next(((r, s) for r, s in off if not self._free(s)), off[0])
                self._fault(report, name, row, step, f"{what} {cells[row]:g}", f"{right(step):g}")
                return
        row, step = off[0]
        self._fault(report, "", row, step, f"{what} {cells[row]:g}", f"{right(step):g}")

    def _next(self, report: Report, rows: list[tuple[int, Step]]) -> None:
        cells = self.reading.next_obs
        assert cells is not None
        off = [(r, s) for r, s in rows if cells[r] not in [each[-1].next_code for each in self._shorter(s)]]
        if not off:
            return
        capacity = self.scene.capacity // self.scene.envs

        def further(step: Step, by: int) -> Code | None:
            each = self.at.get((step.env, step.time + by))
            return None if each is None else each.code

        def beyond(step: Step) -> Code | None:
            each = self.at.get((step.env, step.time + self.n - capacity))
            return None if each is None else each.code

        def beyond_last(step: Step) -> Code | None:
            each = self.at.get((step.env, step.time + self.n - 1 - capacity))
            return None if each is None else each.next_code

        ways: dict[str, list[Callable[[Step], Code | None]]] = {
            "crosses-episodes": [
                lambda s: self.window(s, "nothing")[-1].next_code,
                lambda s: further(s, self.n),
                lambda s: self.window(s)[-1].reset_code,
            ],
            "crosses-truncation": [lambda s: self.window(s, "terminated")[-1].next_code],
            "crosses-write-position": [beyond, beyond_last],
            "next-obs-after-one-step": [lambda s: s.next_code],
            "next-obs-one-step-off": [
                lambda s: self.window(s)[-1].code,
                lambda s: self.window(s, n=self.n - 1)[-1].next_code,
                lambda s: self.window(s, n=self.n + 1)[-1].next_code,
            ],
            "envs-mixed": [lambda s: self.by_number[min(s.number + self.n - 1, max(self.by_number))].next_code],
        }
        for name, several in ways.items():
            for way in several:
                if all(cells[r] == way(s) or self._free(s) for r, s in off) and any(cells[r] == way(s) for r, s in off):
                    row, step = off[0]
                    self._fault(
                        report,
                        name,
                        row,
                        step,
                        f"next_obs of {said(cells[row])}",
                        said(self.window(step)[-1].next_code),
                    )
                    return
        row, step = off[0]
        strays = any(cell is not None and cell[0] != s.env for cell, s in ((cells[r], s) for r, s in off))
        self._fault(
            report,
            "envs-mixed" if strays else "",
            row,
            step,
            f"next_obs of {said(cells[row])}",
            said(self.window(step)[-1].next_code),
        )

    def _flags(self, report: Report, rows: list[tuple[int, Step]]) -> None:
        fed = set(self.played.takes) & {"done", "terminated", "truncated", "not_done"}
        if not fed or not any(self.window(s)[-1].done for _, s in rows):
            return
        kinds: list[Callable[[Step], bool]] = [lambda s: s.done, lambda s: s.terminated, lambda s: s.truncated]
        ways: dict[str, Callable[[Step], Step]] = {
            "": lambda s: self.window(s)[-1],
            "done-of-first-step": lambda s: s,
            "crosses-episodes": lambda s: self.window(s, "nothing")[-1],
            "crosses-truncation": lambda s: self.window(s, "terminated")[-1],
            "done-one-step-off": lambda s: self.window(s, n=self.n - 1)[-1],
        }
        rows = [(r, s) for r, s in rows if not self._free(s)]
        names = []
        for cells in self.reading.flags.values():
            found = [
                name
                for name, way in ways.items()
                for kind in kinds
                for sign in (0, 1)
                if all(cells[r] == (kind(way(s)) != bool(sign)) for r, s in rows)
            ]
            names.append(found[0] if found else None)
        if "" in names:
            return
        row, step = next((r, s) for r, s in rows if self.window(s)[-1].done)
        known = [name for name in names if name]
        if known:
            self._fault(report, known[0], row, step, "the flag of another step", "that of the last step of the window")
        elif not self.reading.flags or not any(cells.any() for cells in self.reading.flags.values()):
            self._fault(report, "done-lost", row, step, "no field tells where an episode ends", "a flag")
        else:
            self._fault(report, "", row, step, "the flag of another step", "that of the last step of the window")

    def _discount(self, report: Report, rows: list[tuple[int, Step]]) -> None:
        for path, values in self.reading.raw.items():
            if named(path) not in ("discount",) or values.shape[1] != 1:
                continue
            cells = values[:, 0].astype(float)
            masks: list[Callable[[Step], bool]] = [lambda s: False, lambda s: s.terminated, lambda s: s.done]
            if any(
                all(
                    any(_close(cells[r], self.gamma ** len(each) * (not mask(each[-1]))) for each in self._shorter(s))
                    for r, s in rows
                )
                for mask in masks
            ):
                continue
            row, step = next(
                ((r, s) for r, s in rows if len(self.window(s)) < self.n and not self.window(s)[-1].terminated), rows[0]
            )
            self._fault(
                report, "discount-not-of-window", row, step, f"{path} {cells[row]:g}", f"γ^{len(self.window(step))}"
            )

    def _coverage(self, report: Report, rows: list[tuple[int, Step]]) -> None:
        if self.scene.length > self.scene.capacity or not self.scene.endings or self.scene.envs > 1:
            return
        came = {step.number for _, step in rows}
        ends = [s for s in self.steps if s.terminated and s.time < self.last - self.n]
        tails = [
            e
            for s in self.steps
            for e in ends
            if s.env == e.env and 0 < e.time - s.time < self.n and s.episode == e.episode
        ]
        lost = [e for e in ends if e.number not in came and e.step > 0]
        if tails and lost and len(lost) == len([e for e in ends if e.step > 0]):
            seen = f"no row starts from step {lost[0]}, on {self.scene.name}"
            report.add("end-of-episode-lost", seen, "a shorter window for each of the last n − 1 steps")

    def _fault(self, report: Report, name: str, row: int, step: Step, seen: str, expected: str = "") -> None:
        report.add(
            name,
            f"{seen} from step {step}, on {self.scene.name}",
            expected or "that of the first step",
            self._table(row, step),
        )

    def _table(self, row: int, step: Step) -> Table:
        """The window by hand: its steps with their rewards, and what came back for it."""
        window = self.window(step)
        lines = [
            (str(s), f"{scalar('reward', s.number):g}", f"γ^{j}", f"{s.terminated:d}", f"{s.truncated:d}", "", "")
            for j, s in enumerate(window)
        ]
        path = self.reading.where.get("reward")
        assert self.reading.next_obs is not None
        reward = f"{self.reading.raw[path][row, 0]:.6g}" if path else "?"
        lines.append(("sum", "", "", "", "", reward, f"{self._right_sum(step):.6g}"))
        lines.append(("next_obs", "", "", "", "", said(self.reading.next_obs[row]), said(window[-1].next_code)))
        for flag, cells in self.reading.flags.items():
            right = window[-1].terminated if named(flag) == "terminated" else window[-1].done
            lines.append((flag, "", "", "", "", f"{cells[row]:g}", f"{right:d}"))
        wrong = [k for k, line in enumerate(lines) if line[5] != line[6]]
        numbers = f"n = {self.n}, γ = {self.gamma:g}; cells are {HOW}"
        columns = ("step", "reward", "weight", "terminated", "truncated", "yours", "right")
        return table(self.scene.name, numbers, columns, lines, wrong)


def _close(a: float, b: float) -> bool:
    return bool(np.isclose(a, b, rtol=1e-4, atol=1e-3))
