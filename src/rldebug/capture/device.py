"""Readings of the machine: host memory, and the GPU through torch and NVML. Host calls only; nothing waits."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import torch

from rldebug.rollout import Device


def read_device() -> Device:
    readings: dict[str, Any] = {"resident": _resident()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        readings["allocated"] = torch.cuda.max_memory_allocated()
        readings["reserved"] = torch.cuda.max_memory_reserved()
        readings.update(_nvml(torch.cuda.current_device()))
    return Device(**readings)


def _resident() -> int | None:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def _nvml(index: int) -> dict[str, Any]:
    handle = _handle(index)
    if handle is None:
        return {}
    import pynvml

    def ask(question: Any, *args: Any) -> Any:
        try:
            return question(handle, *args)
        except pynvml.NVMLError:
            return None  # a passively cooled card has no fan, a virtual one no temperature

    memory, rates = ask(pynvml.nvmlDeviceGetMemoryInfo), ask(pynvml.nvmlDeviceGetUtilizationRates)
    return {
        "gross": None if memory is None else int(memory.used),
        "utilisation": None if rates is None else rates.gpu / 100.0,
        "temperature": ask(pynvml.nvmlDeviceGetTemperature, pynvml.NVML_TEMPERATURE_GPU),
        "fan": ask(pynvml.nvmlDeviceGetFanSpeed),
    }


@lru_cache(maxsize=8)
def _handle(index: int) -> Any:
    try:
        import pynvml

        pynvml.nvmlInit()
        uuid = str(torch.cuda.get_device_properties(index).uuid)  # torch's order is not NVML's order
        return pynvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else f"GPU-{uuid}")
    except Exception:
        return None
