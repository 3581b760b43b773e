"""A machine in a terminal: one line for each thing that matters, above what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from rich.text import Text

from rldebug.evidence.machine import Limits, Machine, Torch
from rldebug.finding import thousands
from rldebug.render.terminal import console, count, wrap

_LABEL = 14  # width of the labels, so that the values stand in a column
_WIDEST = 110  # columns; longer lines are hard to read
_SHORT = 40  # letters of a part that stays on one line
_FINE, _BROKEN = "✓", "✗"
_UNDER = ("torch",)  # packages that have a line of their own
_SIMULATORS = {"atari": "Atari", "box2d": "Box2D", "mujoco": "MuJoCo", "pygame": "pictures"}


@contextmanager
def looking() -> Iterator[Callable[[str], None]]:
    """A line in the terminal while the machine is looked at; what it gives is told what has been tried."""
    out = console(stderr=True)
    tried: list[str] = []
    with out.status("looking at the machine …") as line:

        def done(name: str) -> None:
            tried.append(name)
            line.update(f"looking at the machine … {count(len(tried), 'thing')} tried, last {name}")

        yield done


def print_machine(machine: Machine, file: IO[str] | None = None) -> None:
    out = console(file=file)
    out.print(render(machine, min(out.width, _WIDEST)), end="", soft_wrap=True)


def render(machine: Machine, width: int = 100) -> Text:
    text = Text()
    text.append(machine.system or "this machine", style="bold")
    text.append(f" · looked at in {machine.seconds:.1f} s\n\n", style="dim")
    rows = (
        ("python", f"{machine.python} · {machine.executable}"),
        ("torch", _torch(machine)),
        ("GPU", _gpu(machine)),
        ("packages", " · ".join(_packages(machine))),
        ("environments", " · ".join(_environments(machine))),
        ("cores", _cores(machine)),
        ("memory", _memory(machine.limits)),
        ("files", _files(machine.limits)),
        ("workers", _workers(machine)),
        ("repeatable", _repeatable(machine)),
    )
    for label, value in rows:
        if value:
            text.append(f"  {label.ljust(_LABEL)}", style="dim")
            line = Text(wrap(_kept_together(value), width, 2 + _LABEL) + "\n")
            line.highlight_words([_FINE], "green")
            line.highlight_words([_BROKEN], "bold red")
            text.append_text(line)
    text.append("\n")
    return text


def _kept_together(value: str) -> str:
    """Lines are broken between the parts, not within a short one."""
    whole = "\N{NO-BREAK SPACE}"
    parts = [each.replace(" ", whole) if len(each) <= _SHORT else each for each in value.split(" · ")]
    return f"{whole}· ".join(parts)


def _torch(machine: Machine) -> str:
    torch, package = machine.torch, machine.package("torch")
    if torch is None:
        return f"{package.version} {_BROKEN} cannot be imported" if package else "not installed"
    built = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "the CPU"
    parts = [f"{torch.version}, built for {built}"]
    parts += [f"cuDNN {torch.cudnn}"] if torch.cudnn else []
    parts += [count(torch.threads, "thread")] if torch.threads else []
    parts += ["arrays of NumPy's are not taken " + _BROKEN] if torch.numpy else []
    return " · ".join(parts)


def _gpu(machine: Machine) -> str:
    driver, torch = machine.driver, machine.torch
    parts = [_one_gpu(machine, place) for place in range(len(driver.gpus))]
    if not parts:
        if torch is not None and torch.mps:
            return "Apple's, through MPS"
        if torch is not None and torch.count:
            return f"{count(torch.count, 'GPU')} {_worked(torch)}".strip()
        return f"{driver.cards} NVIDIA, no driver" if driver.cards else "none"
    head = f"driver {driver.version}" + (f", CUDA up to {driver.cuda}" if driver.cuda else "")
    tail = [_worked(torch)] if torch is not None and _worked(torch) else []
    return " · ".join([*parts, head, *tail])


def _one_gpu(machine: Machine, place: int) -> str:
    gpu = machine.driver.gpus[place]
    about = [f"sm_{gpu.capability.replace('.', '')}"] if gpu.capability else []
    if gpu.total:
        used = (gpu.used or 0) / gpu.total
        about.append(f"{_size(gpu.total)}, {used:.0%} used")
    about += ["MIG"] if gpu.mig else []
    return f"{gpu.name} ({', '.join(about)})" if about else gpu.name


def _worked(torch: Torch) -> str:
    if torch.computed is None and torch.available is None:
        return ""
    if torch.computed:
        return f"{_FINE} computes"
    return f"{_BROKEN} does not compute" if torch.count else f"{_BROKEN} not seen by torch"


def _packages(machine: Machine) -> Iterator[str]:
    from rldebug.evidence.machines.trials import ALONE, ON_TORCH

    modules = {**ALONE, **ON_TORCH}
    for each in machine.packages:
        if each.name not in _UNDER:
            broken = machine.imports.get(modules.get(each.name, "")) or machine.extensions.get(each.name)
            yield f"{each.name} {each.version}" + (f" {_BROKEN}" if broken else "")


def _environments(machine: Machine) -> Iterator[str]:
    for name, title in _SIMULATORS.items():
        trial = machine.trial(name)
        if trial is not None:
            draws = _drawing(machine) if name == "mujoco" and not trial.failed else ""
            yield f"{_BROKEN if trial.failed else _FINE} {title}{draws}"


def _drawing(machine: Machine) -> str:
    ways = [each.name.removeprefix("mujoco ") for each in machine.trials if each.draws and each.name != "mujoco as set"]
    if ways:
        return f" (draws with {', '.join(ways)})"
    own = machine.trial("mujoco as set")
    return "" if own is None or own.draws else " (cannot draw)"


def _cores(machine: Machine) -> str:
    limits = machine.limits
    parts = [
        f"{limits.usable:.3g} of {limits.cores} may be used" if limits.usable < limits.cores else str(limits.cores)
    ]
    parts += [
        f"{name}={machine.variables[name]}"
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
        if name in machine.variables
    ]
    return " · ".join(parts)


def _memory(limits: Limits) -> str:
    whole = limits.memory_limit or limits.memory
    parts = []
    if limits.memory_free is not None and whole:
        parts.append(f"{_size(limits.memory_free)} of {_size(whole)} free")
    elif whole:
        parts.append(_size(whole))
    if limits.memory_limit and limits.memory:
        parts[-1] += f", the machine has {_size(limits.memory)}"
    parts += [f"{_size(limits.shm)} may be shared"] if limits.shm is not None else []
    return " · ".join(parts)


def _files(limits: Limits) -> str:
    parts = [f"{thousands(limits.files)} may be open"] if limits.files is not None else []
    parts += [f"{_size(limits.disk_free)} of disk free"] if limits.disk_free is not None else []
    return " · ".join(parts)


def _workers(machine: Machine) -> str:
    parts = [f"started by {machine.limits.start_method}"] if machine.limits.start_method else []
    trial = machine.trial("fork")
    if trial is not None and trial.facts.get("hangs") and machine.limits.start_method == "fork":
        parts.append("hang if forked after torch has computed with threads")
    if machine.torch is not None and machine.torch.sharing:
        parts.append(f"tensors shared by {machine.torch.sharing.replace('_', ' ')}")
    return " · ".join(parts)


def _repeatable(machine: Machine) -> str:
    torch = machine.torch
    parts = [f"hash seed {machine.variables.get('PYTHONHASHSEED', 'random')}"]
    if torch is not None:
        parts.append(f"deterministic algorithms {_switch(torch.deterministic)}")
        if torch.cuda:
            parts.append(f"cuDNN benchmark {_switch(torch.benchmark)}")
            parts.append(f"TF32 {_switch(torch.tf32)}")
            parts.append(f"cuBLAS workspace {machine.variables.get('CUBLAS_WORKSPACE_CONFIG', 'not set')}")
    return " · ".join(parts)


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _size(number: int) -> str:
    """23.5 GiB, 64 MiB."""
    if number >= 2**30:
        return f"{number / 2**30:.3g} GiB" if number < 1000 * 2**30 else f"{number / 2**40:.3g} TiB"
    return f"{max(number, 0) / 2**20:.0f} MiB"
