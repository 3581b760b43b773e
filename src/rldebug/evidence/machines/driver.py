"""What NVIDIA's driver says, through nvidia-smi, and which cards are on the bus whether it answers or not."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from rldebug.evidence.machine import Driver, Gpu
from rldebug.evidence.machines.child import run_limited

_FIELDS = "index,name,driver_version,memory.total,memory.used,utilization.gpu,compute_mode,compute_cap,mig.mode.current"
_SECONDS = 10.0
_NVIDIA = "0x10de"


def read_driver(root: Path = Path("/")) -> Driver:
    cards = count_cards(root)
    program = shutil.which("nvidia-smi")
    if program is None:
        return Driver(version=_loaded(root), cards=cards)
    answer, said = _ask(program, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits")
    if answer is None:
        return Driver(version=_loaded(root), cards=cards, said=said)
    gpus = read_gpus(answer)
    head, _ = _ask(program)
    running, _ = _ask(program, "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader,nounits")
    return Driver(
        version=driver_version(answer) or _loaded(root),
        cuda=highest_cuda(head or ""),
        gpus=gpus,
        processes=read_processes(running or ""),
        cards=max(cards, len(gpus)),
        answers=True,
    )


def read_gpus(answer: str) -> tuple[Gpu, ...]:
    """Rows of nvidia-smi in the order of _FIELDS; what a card does not know it writes as [N/A]."""
    return tuple(
        Gpu(
            name=row[1],
            index=int(row[0]),
            capability=row[7] if re.fullmatch(r"\d+\.\d+", row[7]) else "",
            total=_mebibytes(row[3]),
            used=_mebibytes(row[4]),
            utilisation=int(row[5]) / 100 if row[5].isdigit() else None,
            mode=row[6],
            mig=row[8] == "Enabled",
        )
        for row in _rows(answer, 9)
        if row[0].isdigit()
    )


def driver_version(answer: str) -> str:
    return next((row[2] for row in _rows(answer, 9)), "")


def highest_cuda(head: str) -> str:
    found = re.search(r"CUDA(?: UMD)? Version\s*:\s*(\d+\.\d+)", head)
    return found[1] if found else ""


def read_processes(answer: str) -> tuple[str, ...]:
    rows = [row for row in _rows(answer, 3) if row[0].isdigit() and int(row[0]) != os.getpid()]
    return tuple(f"{row[0]} {os.path.basename(row[1])} {row[2]} MiB" for row in rows)


def count_cards(root: Path) -> int:
    """Display controllers of NVIDIA's, as the kernel lists them."""
    cards = 0
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        if _line(folder / "vendor") == _NVIDIA and _line(folder / "class").startswith("0x03"):
            cards += 1
    return cards


def _loaded(root: Path) -> str:
    found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", _line(root / "proc/driver/nvidia/version"))
    return found[1] if found else ""


def _ask(program: str, *arguments: str) -> tuple[str | None, str]:
    """What it answered, or None and why not."""
    with tempfile.TemporaryFile() as out:
        try:
            status = run_limited([program, *arguments], _SECONDS, out, os.environ)
        except OSError as error:
            return None, f"nvidia-smi cannot be started: {error.strerror}"
        out.seek(0)
        text = out.read().decode("utf-8", "replace").strip()
    if status == 0:
        return text, ""
    if status is None:
        return None, f"nvidia-smi did not answer within {_SECONDS:g} s"
    return None, " ".join(text.split())[:300] or f"nvidia-smi ended with status {status}"


def _rows(answer: str, columns: int) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.splitlines()]
    return [row for row in rows if len(row) == columns]


def _mebibytes(cell: str) -> int | None:
    return int(cell) << 20 if cell.isdigit() else None


def _line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""
