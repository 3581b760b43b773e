"""Frame stack: the last k frames of this episode, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rldebug.evidence.verification import Table, Verification
from rldebug.oracles.audit.coding import Given, Report, conclude, table
from rldebug.oracles.audit.drive import guarded
from rldebug.oracles.audit.frames import Frame, Play, arranged, as_stack, frame, play, ways
from rldebug.oracles.audit.make import Stuck
from rldebug.oracles.audit.slots import Slots, events, right_ones, wrong_ones
from rldebug.oracles.call import Raised, call
from rldebug.oracles.oracle import Mistake, Oracle

SHAPES = ((6, 5), (6, 5, 1), (1, 6, 5), (84, 84), (84, 84, 1), (1, 84, 84), (84, 84, 3), (5,))


@guarded
def examine(target: Any, given: Given) -> Verification:
    report = _examined(target, given)
    return conclude("frame-stack", report, MISTAKES)


def _examined(target: Any, given: Given) -> Report:
    reports: list[Report] = []
    stuck = ""
    for shape in SHAPES:
        if len(shape) == 1 and reports:
            break  # it takes pictures
        outcome = call(play, (target, shape, given), {}, seconds=5.0)
        if isinstance(outcome, Raised):
            said = str(outcome.error) if isinstance(outcome.error, Stuck) else f"it raised {outcome.said}"
            stuck = stuck or said
            continue
        report = Report(mapping=outcome.mapping, scenes=1)
        report.convention = (outcome.how, f"frames {shape}")
        _judge(outcome, report)
        if not report.faults:
            if any(fault.name == "wrong-axis" for each in reports for fault in each.faults):
                report.note("frames are joined along an axis they must have: for frames with channels, and no others")
            return report
        reports.append(report)
        if all(fault.name not in ("", "wrong-axis") for fault in report.faults):
            break
    if not reports:
        return Report(stuck=stuck)
    return min(reports, key=lambda each: "" in [fault.name for fault in each.faults])


def _pixels(slot: tuple[int, int] | None, shape: tuple[int, ...]) -> Frame:
    vector = len(shape) == 1
    if slot is None:
        return np.zeros(shape, np.float32 if vector else np.uint8)
    return frame(*slot, shape, vector)


def _fits(played: Play, slots: Sequence[Slots], way: str, newest_first: bool) -> bool:
    for shown, each in zip(played.shown, slots, strict=True):
        order = each[::-1] if newest_first else each
        right = arranged([_pixels(slot, played.shape) for slot in order], way)
        if right is None:
            return False
        stack = shown.stack
        if played.batched and stack.shape[:1] == (1,):
            stack = stack[0]
        if stack.shape != right.shape:
            return False
        if not np.array_equal(stack, right) and not np.allclose(stack * 255.0, right, atol=0.01):
            return False
    return True


def _judge(played: Play, report: Report) -> None:
    """With the k it was told; where it was told none, with the first that explains what it does."""
    counts = (4, 3, 2) if played.k is None else (played.k,)
    for judge in (_sound, _mistaken):
        for k in counts:
            if judge(played, report, k):
                return
    _unexplained(played, report, counts[0])


def _sound(played: Play, report: Report, k: int) -> bool:
    good, _ = ways(played.shape)
    for newest_first in (False, True):
        for fill, slots in right_ones(k).items():
            for way in good:
                if _fits(played, slots, way, newest_first):
                    report.convention = (*report.convention[:2], f"k = {k}", fill, _along(way))
                    if newest_first:
                        report.note("the newest frame comes first: networks trained with other stacks expect it last")
                    _own_array(played, report)
                    return True
    return False


def _mistaken(played: Play, report: Report, k: int) -> bool:
    good, bad = ways(played.shape)
    wrong = [each for each in wrong_ones(k) if played.k is not None or each[0] != "wrong-number-of-frames"]
    for newest_first in (False, True):
        for slots in right_ones(k).values():
            for way in bad:
                if _fits(played, slots, way, newest_first):
                    _wrong_axis(played, report, way, k)
                    _own_array(played, report)
                    return True
        for name, slots in wrong:
            for way in good:
                if _fits(played, slots, way, newest_first):
                    _fault(report, name, slots, k)
                    _own_array(played, report)
                    return True
    for name, slots in wrong:  # two at once
        for way in bad:
            if _fits(played, slots, way, False):
                _fault(report, name, slots, k)
                _wrong_axis(played, report, way, k)
                return True
    return False


def _wrong_axis(played: Play, report: Report, way: str, k: int) -> None:
    seen = f"{k} frames {played.shape} put together {_along(way)}: {tuple(played.shown[-1].stack.shape)}"
    report.add("wrong-axis", seen, f"frames as channels: {(k, *played.shape)}")


def _along(way: str) -> str:
    kind, axis = way.split()
    where = {"0": "first", "-1": "last", "1": "second", "2": "third"}[axis]
    return f"as a new {where} axis" if kind == "stack" else f"along the {where} axis"


def _own_array(played: Play, report: Report) -> None:
    """Whether stacks that were handed out earlier still hold what they did."""
    for number, shown in enumerate(played.shown[:-1]):
        now = as_stack(shown.given)
        if now is not None and now.shape == shown.stack.shape and not np.array_equal(now, shown.stack):
            event = f"{shown.episode}/{shown.step}"
            seen = f"the stack returned at {event} has changed {len(played.shown) - number - 1} steps later"
            report.add("returns-its-own-array", seen, "an array that stays as it was")
            return


def _fault(report: Report, name: str, slots: Sequence[Slots], k: int) -> None:
    right, zeros = right_ones(k).values()
    off = [at for at, each in enumerate(slots) if each != right[at] and each != zeros[at]]
    at = off[0] if off else 0
    shown = _table(slots, right, zeros, at, k)
    event = events()[at]
    report.add(name, f"frames {_said(slots[at])} at episode {event[0]}, step {event[1]}", _said(right[at]), shown)


def _table(slots: Sequence[Slots], right: Sequence[Slots], zeros: Sequence[Slots], at: int, k: int) -> Table:
    lines: list[tuple[str, ...]] = []
    wrong: list[int] = []
    for number in range(max(0, at - 3), min(len(slots), at + 2)):
        event = events()[number]
        fits = slots[number] in (right[number], zeros[number])
        if not fits:
            wrong.append(len(lines))
        what = "reset" if event[1] == 0 else "step"
        lines.append(
            (what, f"{event[0]}/{event[1]}", _said(slots[number]), _said(slots[number] if fits else right[number]))
        )
    return table(
        "three short episodes",
        f"k = {k}; frames are episode/step, oldest first",
        ("call", "frame", "yours", "right"),
        lines,
        wrong,
    )


def _said(slots: Slots) -> str:
    return " ".join("zeros" if slot is None else f"{slot[0]}/{slot[1]}" for slot in slots)


def _unexplained(played: Play, report: Report, k: int) -> None:
    good, _ = ways(played.shape)
    right, zeros = right_ones(k).values()
    for number, shown in enumerate(played.shown):
        fits = [
            arranged([_pixels(s, played.shape) for s in each[number]], way) for each in (right, zeros) for way in good
        ]
        if not any(
            each is not None and each.shape == shown.stack.shape and np.array_equal(each, shown.stack) for each in fits
        ):
            event = f"episode {shown.episode}, step {shown.step}"
            values = sorted({int(v) for v in np.unique(shown.stack)[:8]})
            report.add(
                "",
                f"a stack {shown.stack.shape} of the brightnesses {values} at {event}",
                f"frames {_said(right[number])}",
            )
            return
    report.add("", "stacks that are right one by one, but not put together alike", "the same way at every step")


_BLIND = "What the network sees as motion is not the motion that was there."

MISTAKES = (
    Mistake(
        "PRE101", "frame-stack-leaks-over-reset", "After a reset, frames of the episode before are still there.", {},
        wrong="def reset(self): obs = self.env.reset(); self.frames.append(obs)",
        right="def reset(self): obs = self.env.reset(); [self.frames.append(obs) for _ in range(self.k)]",
        harm="The first stacks of every episode show a jump that no action caused.",
        fix="fill all k slots at reset, with the first frame or with zeros",
    ),
    Mistake(
        "PRE102", "frame-stack-one-step-late", "The stack is made before the new frame is added.", {},
        wrong="stack = np.stack(self.frames); self.frames.append(obs); return stack",
        right="self.frames.append(obs); return np.stack(self.frames)",
        harm="The agent acts on what it saw a step ago; fast environments become impossible.",
        fix="add the new frame first",
    ),
    Mistake(
        "PRE103", "frame-stack-order-rotates", "Slots are filled round and round, and returned as they lie.", {},
        wrong="self.stack[self.t % k] = obs; return self.stack",
        right="return np.roll(self.stack, -(self.t % k) - 1, axis=0)",
        harm="The newest frame is in another channel at each step: motion cannot be read from it.",
        fix="return the slots from the oldest to the newest",
    ),
    Mistake(
        "PRE104", "frame-stack-same-frame-repeated", "All slots hold the newest frame.", {},
        wrong="return np.stack([obs] * k)",
        right="return np.stack(self.frames)",
        harm="There is no motion to be seen.",
        fix="keep the frames of the last k steps",
    ),
    Mistake(
        "PRE105", "frame-stack-shifted-the-wrong-way",
        "Slots are moved towards the newest, not towards the oldest.", {},
        wrong="self.stack = np.roll(self.stack, 1, axis=0); self.stack[-1] = obs",
        right="self.stack = np.roll(self.stack, -1, axis=0); self.stack[-1] = obs",
        harm=_BLIND,
        fix="roll by −1 before the last slot is written",
        seen_in="ikostrikov/pytorch-a2c-ppo-acktr-gail commit 84a7582",
    ),
    Mistake(
        "PRE106", "frame-stack-frame-added-twice", "Every frame is added twice.", {},
        wrong="self.frames.append(obs)  # in step() and again in observation()",
        right="self.frames.append(obs)  # once",
        harm="The stack reaches back half as far as it should.",
        fix="add the frame in one place",
    ),
    Mistake(
        "PRE107", "frame-stack-first-frame-lost", "The frame that reset returns is not in the stack.", {},
        wrong="def reset(self): self.stack[:] = 0; self.env.reset(); return self.stack",
        right="def reset(self): self.stack[:] = 0; self.stack[-1] = self.env.reset(); return self.stack",
        harm="The first action of each episode is chosen blindly.",
        fix="add the frame of reset",
    ),
    Mistake(
        "PRE108", "frame-stack-not-filled-at-reset", "After a reset the stack has fewer than k frames.", {},
        wrong="self.frames = deque(maxlen=k); self.frames.append(obs)",
        right="self.frames = deque([obs] * k, maxlen=k)",
        harm="Stacks of other shapes than the network takes; the first steps raise, or are skipped.",
        fix="fill all k slots at reset",
    ),
    Mistake(
        "PRE109", "frame-stack-wrong-number-of-frames", "The stack has one frame too few or too many.", {},
        wrong="self.frames = deque(maxlen=k + 1)",
        right="self.frames = deque(maxlen=k)",
        harm="The network does not fit, or sees another time span than was asked for.",
        fix="keep k frames, the newest among them",
    ),
    Mistake(
        "PRE110", "frame-stack-wrong-axis", "Frames are put together along the height or width.", {},
        wrong="np.concatenate(self.frames, axis=0)",
        right="np.stack(self.frames, axis=0)",
        harm="The network gets one tall picture: its filters cannot compare the same place at two times.",
        fix="put frames together along the channels",
    ),
    Mistake(
        "PRE111", "frame-stack-returns-its-own-array", "The array it returns is changed at the next step.", {},
        wrong="self.stack[-1] = obs; return self.stack",
        right="self.stack[-1] = obs; return self.stack.copy()",
        harm="What a buffer holds without a copy turns into later stacks: obs and next_obs become the same.",
        fix="return a copy",
        seen_in="Farama-Foundation/SuperSuit PR #116",
    ),
)  # fmt: skip

FRAME_STACK = Oracle(
    name="frame-stack",
    aliases="framestack frame-stacking stack-frames frames",
    code="PRE100",
    summary="Frame stack: the last k frames of this episode, oldest first; at reset, the first one k times or zeros.",
    formula="stack_t = (x_{t−k+1}, …, x_t), all of the same episode",
    example="class FrameStack(env, k), or a class with reset(frame) and append(frame)",
    references="Mnih and others, *Human-level control through deep reinforcement learning*.",
    mistakes=MISTAKES,
    examine=examine,
)
