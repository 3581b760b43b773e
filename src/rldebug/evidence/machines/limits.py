"""What a process may use: cores, memory, shared memory, files, disk. Read from the system, nothing is tried.

A container shows the whole machine in most places; what it grants stands in its control group, of version 1 or 2.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from pathlib import Path

from rldebug.evidence.machine import Limits

_UNLIMITED = 1 << 60  # version 1 writes a number near 2⁶³ where there is no limit


def read_limits(folder: Path | None = None, root: Path = Path("/")) -> Limits:
    """`root` is where /proc, /sys and /dev are."""
    memory, free = _memory(root)
    limit, used = _memory_of_group(root)
    if limit is not None and used is not None:
        free = min(limit - used, limit if free is None else free)
    files, hard = _files()
    disk = _disk(folder or Path.cwd())
    shm, shm_free = _shm(root / "dev/shm")
    return Limits(
        cores=os.cpu_count() or 1,
        affinity=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        quota=_quota(root),
        memory=memory,
        memory_limit=limit if limit is not None and (memory is None or limit < memory) else None,
        memory_free=free,
        shm=shm,
        shm_free=shm_free,
        files=files,
        files_hard=hard,
        disk_free=disk,
        writable=os.access(folder or Path.cwd(), os.W_OK),
        start_method=multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0],
    )


def _quota(root: Path) -> float | None:
    """The least of the group and those above it; a quota may stand at any of them."""
    shares = []
    for group in _groups(root, ""):
        words = _words(group / "cpu.max")
        if len(words) == 2 and words[0] != "max":
            shares.append(float(words[0]) / float(words[1]))
    for group in _groups(root, "cpu"):
        quota, period = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
        if quota and period and quota > 0:
            shares.append(quota / period)
    return min(shares) if shares else None


def _memory_of_group(root: Path) -> tuple[int | None, int | None]:
    """The least limit, and what is used under it."""
    found = []
    names = [("", "memory.max", "memory.current"), ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes")]
    for controller, limit, usage in names:
        for group in _groups(root, controller):
            most = _number(group / limit)
            if most is not None and most < _UNLIMITED:
                found.append((most, (_number(group / usage) or 0) - _reclaimable(group)))
    return min(found) if found else (None, None)


def _reclaimable(group: Path) -> int:
    """What is counted as used and yet given back as soon as somebody needs it: files that were read."""
    rows = [line.split() for line in _text(group / "memory.stat").splitlines()]
    values = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
    return values.get("total_inactive_file", values.get("inactive_file", 0))


def _groups(root: Path, controller: str) -> list[Path]:
    """The folders of this process's control group and of those above it; the controller is empty in version 2."""
    top = root / "sys/fs/cgroup" / controller
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if (controller and controller in names.split(",")) or (not controller and number == "0" and not names):
            own = top / path.strip("/")
            return [each for each in (own, *own.parents) if each == top or top in each.parents]
    return [top]


def _memory(root: Path) -> tuple[int | None, int | None]:
    rows = [line.split() for line in _text(root / "proc/meminfo").splitlines()]
    values = {row[0]: int(row[1]) * 1024 for row in rows if len(row) == 3 and row[1].isdigit()}
    if "MemTotal:" in values:
        return values["MemTotal:"], values.get("MemAvailable:")
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), None
    except (AttributeError, ValueError, OSError):
        return None, None


def _files() -> tuple[int | None, int | None]:
    try:
        import resource
    except ImportError:  # Windows
        return None, None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    return None if soft == endless else soft, None if hard == endless else hard


def _shm(folder: Path) -> tuple[int | None, int | None]:
    try:
        found = os.statvfs(folder)
    except (AttributeError, OSError):
        return None, None
    return found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail


def _disk(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _number(file: Path) -> int | None:
    words = _words(file)
    try:
        return int(words[0])
    except (IndexError, ValueError):
        return None


def _words(file: Path) -> list[str]:
    return _text(file).split()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
