"""Which steps a ring still holds: all of the last ones, and no others."""

from __future__ import annotations

from rldebug.oracles.audit.coding import Report, table
from rldebug.oracles.audit.drive import Played, Scene
from rldebug.oracles.audit.rows import HOW, Rows


def check_draws(rows: Rows, played: Played, which: list[int], report: Report) -> bool:
    """Whether samples are random at all. `which`: of each row sampled, its place among the different ones."""
    size = played.rows
    every = [0 if step is None else step.number for step in rows.anchor]
    numbers = [every[each] for each in which]
    calls = [tuple(numbers[at : at + size]) for at in range(0, len(numbers), size)]
    if len(calls) < 20 or rows.track.length * rows.track.envs <= size:
        return True
    if len(set(calls)) == 1:
        report.add(
            "always-the-same-rows", f"{len(calls)} samples, all of the same rows, on {rows.scene}", "random rows"
        )
        return False
    if all(len(set(each)) == 1 for each in calls):
        report.add(
            "one-row-for-the-batch",
            f"every sample is one row, {size} times, on {rows.scene}",
            "rows drawn each by itself",
        )
    return True


def check_ring(rows: Rows, scene: Scene, report: Report) -> None:
    """Every step that should be held was sampled, and none that should not: with so many draws, chance is no excuse."""
    if any(fault.name == "rows-share-one-array" for fault in report.faults):
        return
    track = rows.track
    keep = scene.capacity // track.envs
    came = {step.number for _, step in rows.known}
    newest = {step.number for step in track.all if step.time == track.length - 1}
    right = {step.number for step in track.all if step.time >= track.length - keep}
    if track.envs > 1 and any(step.number in came for step in track.all if step.time < track.length - keep):
        right = {step.number for step in track.all if step.time >= track.length - scene.capacity}
    missing, extra = right - came, came - right
    if (
        "next_obs" not in rows.takes
    ):  # the newest row has no next one yet; the one at the write position may be given up
        oldest = {step.number for step in track.all if step.time == track.length - keep}
        missing -= newest | (oldest if track.length >= keep else set())
    if not missing and not extra:
        return
    name = _name(rows, scene, came, right, missing, extra)
    if not name and len(came) == len(right) and newest <= came and track.length > keep:
        report.note("a full buffer does not forget its oldest rows first")
        return
    told = {fault.name for fault in report.faults}
    if name in ("", "wraps-early") and told & {"", "last-row-never-sampled"}:
        return  # told already, on a smaller scene
    lines = [
        (str(step.number), str(step), "yes" if step.number in right else "no", "yes" if step.number in came else "no")
        for step in track.all
    ]
    wrong = [number for number, line in enumerate(lines) if line[2] != line[3]]
    held = ", ".join(str(each) for each in sorted(came)) or "none"
    numbers = f"room for {scene.capacity}, {len(track.all)} added; {HOW}"
    shown = table(scene.name, numbers, ("added", "step", "right", "yours"), lines, wrong)
    report.add(name, f"transitions {held} came back, on {scene.name}", f"{min(right)} to {max(right)}", shown)


def _name(rows: Rows, scene: Scene, came: set[int], right: set[int], missing: set[int], extra: set[int]) -> str:
    track = rows.track
    every = {step.number for step in track.all}
    keep = scene.capacity // track.envs
    first = {step.number for step in track.all if step.time < keep}
    last = {step.number for step in track.all if step.time == track.length - 1}
    if track.length <= keep and missing == last:
        return "last-row-never-sampled"
    below = track.length % keep * track.envs
    if track.length > keep and not extra and len(came) == below:
        return "sampled-below-write-position"
    if track.length >= keep and not extra and missing and max(missing) < min(right - missing, default=0):
        return "wraps-early"
    if extra and not missing and came == every:
        return "never-forgets"
    if extra and came <= first:
        return "stops-when-full"
    if extra and missing and came & last and came - last <= first:
        return "overwrites-newest"
    return ""
