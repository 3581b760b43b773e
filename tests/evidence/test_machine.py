import json

import pytest

from rldebug.evidence.machine import FOR_OTHER_NUMPY, Limits, Machine, release
from rldebug.evidence.machines.cuda import arch_number, has_kernels, torch_for
from rldebug.evidence.machines.driver import count_cards, highest_cuda, read_gpus, read_processes
from rldebug.evidence.machines.limits import read_limits
from rldebug.evidence.machines.packages import read_conflicts, read_hiding, read_packages
from tests.rules.machines import SOUND


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def install(folder, name, version, *requires):
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    write(folder, f"{name.replace('-', '_')}-{version}.dist-info/METADATA", "\n".join(lines) + "\n")


def test_a_machine_goes_to_disk_and_back():
    assert Machine.from_dict(json.loads(json.dumps(SOUND.to_dict()))) == SOUND
    assert Machine.from_dict(json.loads(json.dumps(Machine().to_dict()))) == Machine()


@pytest.mark.parametrize(
    ("version", "numbers"), [("2.13.0+cpu", (2, 13, 0)), ("580.159.04", (580, 159, 4)), ("2.0rc1", (2, 0)), ("x", ())]
)
def test_a_version_begins_with_numbers(version, numbers):
    assert release(version) == numbers


# ── what is granted ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_quota_of_version_2_is_read_from_the_group(tmp_path):
    write(tmp_path, "proc/self/cgroup", "0::/docker/abc\n")
    write(tmp_path, "sys/fs/cgroup/docker/abc/cpu.max", "250000 100000\n")
    write(tmp_path, "sys/fs/cgroup/docker/abc/memory.max", f"{4 << 30}\n")
    write(tmp_path, "sys/fs/cgroup/docker/abc/memory.current", f"{3 << 30}\n")
    write(tmp_path, "sys/fs/cgroup/docker/abc/memory.stat", f"anon 5\ninactive_file {1 << 30}\n")
    write(tmp_path, "proc/meminfo", f"MemTotal: {64 << 20} kB\nMemAvailable: {60 << 20} kB\n")
    limits = read_limits(root=tmp_path)
    assert limits.quota == 2.5
    assert limits.memory == 64 << 30
    assert limits.memory_limit == 4 << 30
    assert limits.memory_free == 2 << 30


def test_a_quota_above_the_group_counts_too(tmp_path):
    write(tmp_path, "proc/self/cgroup", "0::/slice/job\n")
    write(tmp_path, "sys/fs/cgroup/slice/job/cpu.max", "max 100000\n")
    write(tmp_path, "sys/fs/cgroup/slice/cpu.max", "100000 100000\n")
    assert read_limits(root=tmp_path).quota == 1.0


def test_version_1_is_read_where_its_folders_are(tmp_path):
    """Inside a container the path of the group is that of the host, and its files are at the top."""
    write(tmp_path, "proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", f"{1 << 30}\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.usage_in_bytes", f"{1 << 29}\n")
    write(tmp_path, "proc/meminfo", f"MemTotal: {64 << 20} kB\nMemAvailable: {60 << 20} kB\n")
    limits = read_limits(root=tmp_path)
    assert limits.quota == 1.5
    assert limits.memory_limit == 1 << 30
    assert limits.memory_free == 1 << 29


def test_no_limit_is_none(tmp_path):
    write(tmp_path, "proc/self/cgroup", "4:memory:/\n1:cpu:/\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    write(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    limits = read_limits(root=tmp_path)
    assert limits.quota is None
    assert limits.memory_limit is None


def test_cores_are_the_least_of_what_is_granted():
    assert Limits(cores=64, affinity=8, quota=2.5).usable == 2.5
    assert Limits(cores=64, affinity=8, quota=20.0).usable == 8
    assert Limits(cores=64).usable == 64


# ── what is installed ───────────────────────────────────────────────────────────────────────────────────────────────


def test_packages_are_found_and_what_they_hide(tmp_path):
    install(tmp_path / "venv", "NumPy", "2.4.6")
    install(tmp_path / "user", "numpy", "1.26.4")
    install(tmp_path / "venv", "ale_py", "0.12.1")
    install(tmp_path / "venv", "something-else", "1.0")
    found = read_packages([str(tmp_path / "venv"), str(tmp_path / "user")])
    assert [(each.name, each.version) for each in found] == [("numpy", "2.4.6"), ("ale-py", "0.12.1")]
    assert found[0].hidden == (f"1.26.4 in {tmp_path / 'user'}",)


def test_requirements_that_are_not_met_are_told(tmp_path):
    install(tmp_path, "numpy", "2.4.6")
    install(tmp_path, "gymnasium", "1.4.0", "numpy>=1.21", "mujoco<2; extra == 'mujoco'")
    install(tmp_path, "mujoco", "4.0.0")
    install(tmp_path, "stable-baselines3", "2.2.1", "gymnasium<0.30,>=0.28", "numpy<2; python_version < '3'", "gone>=1")
    path = [str(tmp_path)]
    (conflict,) = read_conflicts(read_packages(path), path)
    assert (conflict.package, conflict.other, conflict.installed) == ("stable-baselines3", "gymnasium", "1.4.0")
    assert set(conflict.needs.removeprefix("gymnasium").split(",")) == {"<0.30", ">=0.28"}


def test_files_that_hide_modules_are_found(tmp_path):
    for name in ("random.py", "train.py", "wandb/run-1/log.txt", "gymnasium/__init__.py"):
        write(tmp_path, name, "")
    found = read_hiding(tmp_path, ["random", "wandb", "gymnasium", "torch"])
    assert [each.rstrip("/\\") for each in found] == ["gymnasium", "random.py"]


def test_what_packages_say_that_were_compiled_for_another_numpy():
    said = "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.1 as it may crash."
    assert FOR_OTHER_NUMPY.search(said)
    assert not FOR_OTHER_NUMPY.search("No module named 'numpy'")


# ── the driver ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_nvidia_smi_says_is_read():
    answer = (
        "0, NVIDIA H200, 580.159.04, 143771, 61958, 37, Default, 9.0, Disabled\n"
        "1, NVIDIA A100-SXM4-40GB, 580.159.04, 40960, 0, [N/A], Exclusive_Process, 8.0, Enabled\n"
    )
    one, other = read_gpus(answer)
    assert (one.name, one.capability, one.total, one.utilisation) == ("NVIDIA H200", "9.0", 143771 << 20, 0.37)
    assert (other.mode, other.mig, other.utilisation) == ("Exclusive_Process", True, None)
    assert read_gpus("No devices were found") == ()
    assert highest_cuda("| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA Version: 13.0 |") == "13.0"
    assert read_processes("1060, /usr/bin/python3, 61958\n") == ("1060 python3 61958 MiB",)


def test_cards_are_counted_without_a_driver(tmp_path):
    for place, (vendor, kind) in enumerate((("0x10de", "0x030200"), ("0x10de", "0x040300"), ("0x8086", "0x030000"))):
        write(tmp_path, f"sys/bus/pci/devices/{place}/vendor", f"{vendor}\n")
        write(tmp_path, f"sys/bus/pci/devices/{place}/class", f"{kind}\n")
    assert count_cards(tmp_path) == 1


def test_the_pytorch_that_a_driver_runs():
    assert torch_for(SOUND.driver).endswith("/cu130")
    assert torch_for(Machine.from_dict({"driver": {"version": "535.104.05"}}).driver).endswith("/cu126")
    assert torch_for(Machine().driver) == ""


def test_kernels_run_within_a_generation():
    assert arch_number("sm_120") == ("sm", (12, 0))
    assert has_kernels("8.9", ["sm_86"])
    assert not has_kernels("8.0", ["sm_86"])
    assert not has_kernels("9.0", ["sm_86"])
    assert has_kernels("9.0", ["compute_86"])
