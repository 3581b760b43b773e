"""Relative imports, under -m."""

import sys

from . import NAME
from .part import of

if __name__ == "__main__":
    print(NAME, of, __spec__.name, __package__, sys.argv, sys.path[0], __file__)
    sys.exit(len(sys.argv))
