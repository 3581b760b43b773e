import io
from dataclasses import replace

from rldebug.evidence.machine import Driver, Machine, Package, Trial
from rldebug.render.doctor import print_machine, render
from tests.rules.machines import GIB, H200, NO_GPU, SOUND, machine, with_packages


def row(label, made, width=200):
    lines = render(made, width).plain.splitlines()
    return next((each.strip()[len(label) :].strip() for each in lines if each.strip().startswith(label)), None)


def test_each_thing_has_its_line():
    assert row("torch", SOUND) == "2.11.0+cu130, built for CUDA 13.0 · 16 threads"
    assert (
        row("GPU", SOUND) == "NVIDIA H200 (sm_90, 140 GiB, 1% used) · driver 580.159.04, CUDA up to 13.0 · ✓ computes"
    )
    assert row("packages", SOUND) == "numpy 2.4.6 · gymnasium 1.4.0 · ale-py 0.12.1 · mujoco 4.0.0"
    assert row("environments", SOUND) == "✓ Atari · ✓ MuJoCo (draws with egl, glfw) · ✓ pictures"
    assert row("cores", SOUND) == "16"
    assert row("memory", SOUND) == "100 GiB of 126 GiB free · 64 GiB may be shared"
    assert row("files", SOUND) == "20 000 may be open · 60 GiB of disk free"
    assert row("workers", SOUND) == "started by fork · tensors shared by file descriptor"
    assert row("repeatable", SOUND).startswith("hash seed random · deterministic algorithms off")


def test_what_is_broken_is_marked():
    broken = machine(
        Trial("atari", "error", "making ALE/Pong-v5", "NamespaceNotFound"),
        Trial("mujoco as set", "error"),
        Trial("mujoco egl", "error"),
        Trial("mujoco glfw", "error"),
        Trial("fork", facts={"hangs": True}),
        torch={"available": False, "count": 0, "computed": None},
        extensions={"torchrl": "ImportError"},
        **with_packages(torchrl="0.14.1"),
    )
    assert "torchrl 0.14.1 ✗" in row("packages", broken)
    assert row("environments", broken).startswith("✗ Atari · ✓ MuJoCo (cannot draw)")
    assert row("GPU", broken).endswith("✗ not seen by torch")
    assert "hang if forked" in row("workers", broken)


def test_limits_of_a_container_are_told_beside_the_machine():
    small = machine(limits={"quota": 1.5, "memory_limit": 2 * GIB, "memory_free": GIB, "shm": 64 << 20})
    assert row("cores", small) == "1.5 of 16 may be used"
    assert row("memory", small) == "1 GiB of 2 GiB free, the machine has 126 GiB · 64 MiB may be shared"


def test_a_machine_without_a_gpu_or_torch():
    assert row("GPU", machine(torch=NO_GPU, driver=Driver())) == "none"
    assert row("GPU", machine(torch=NO_GPU, driver=Driver(cards=1))) == "1 NVIDIA, no driver"
    assert row("torch", Machine(packages=(Package("torch", "2.11.0"),))) == "2.11.0 ✗ cannot be imported"
    assert row("torch", Machine()) == "not installed"


def test_a_split_gpu_says_so():
    assert "MIG" in row("GPU", machine(driver={"gpus": (replace(H200, mig=True),)}))


def test_lines_fit_and_parts_stay_whole():
    many = machine(**with_packages(**{f"package_{place}": "1.2.3" for place in range(12)}))
    lines = render(many, 72).plain.splitlines()
    assert max(len(each) for each in lines) <= 72
    for place in range(12):
        assert any(f"package-{place} 1.2.3" in each for each in lines)


def test_it_is_printed_without_colours_into_a_file():
    out = io.StringIO()
    print_machine(SOUND, file=out)
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().startswith("Linux 6.18 x86_64 · looked at in 0.0 s\n")
