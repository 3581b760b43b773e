"""The machine: memory three ways, utilisation, temperature, fan."""

from __future__ import annotations

from rldebug.metric import metric
from rldebug.rollout import Device


@metric("host/resident", unit="bytes", reads=Device, needs=("resident",), healthy="levels out")
def resident(device: Device) -> int | None:
    """Host memory the process uses."""
    return device.resident


@metric("gpu/allocated", unit="bytes", reads=Device, needs=("allocated",), healthy="levels out")
def allocated(device: Device) -> int | None:
    """Peak GPU memory that tensors occupied (`torch.cuda.max_memory_allocated`)."""
    return device.allocated


@metric("gpu/reserved", unit="bytes", reads=Device, needs=("reserved",), healthy="levels out, near gpu/allocated")
def reserved(device: Device) -> int | None:
    """Peak GPU memory that PyTorch set aside (`torch.cuda.max_memory_reserved`)."""
    return device.reserved


@metric("gpu/gross", unit="bytes", reads=Device, needs=("gross",), healthy="below the card's memory")
def gross(device: Device) -> int | None:
    """GPU memory in use overall, kernels included: the figure that ends a program when it meets the card's limit."""
    return device.gross


@metric("gpu/utilisation", unit="share of time", reads=Device, needs=("utilisation",), healthy="high")
def utilisation(device: Device) -> float | None:
    """Share of the last sample period in which a kernel was running."""
    return device.utilisation


@metric("gpu/temperature", unit="degrees Celsius", reads=Device, needs=("temperature",), healthy="below throttling")
def temperature(device: Device) -> float | None:
    """Temperature of the card."""
    return device.temperature


@metric("gpu/fan", unit="per cent", reads=Device, needs=("fan",), healthy="below 100")
def fan(device: Device) -> float | None:
    """Fan speed of the card."""
    return device.fan
