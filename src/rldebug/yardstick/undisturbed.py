"""What is global and a measurement might touch, put back afterwards."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import torch

from rldebug.parts.generators import generators_kept


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Inside: float32, gradients on, no anomaly mode, no warnings. Afterwards all is as it was.

    Measurements draw from generators of their own; the global ones are kept in case a library they call does not.
    """
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(generators_kept())
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(torch.autograd.set_detect_anomaly(False))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            torch.set_default_dtype(torch.float32)
            yield
    finally:
        torch.set_default_dtype(dtype)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
