"""What parts of a training loop cost on this machine, in the shapes of a run: so that advice has a number."""

from rldebug.yardstick.shelf import measure_all

__all__ = ["measure_all"]
