"""What each sees is written on one slate, and the slate is handed to everybody."""

from __future__ import annotations

import numpy as np

from tests.planted_envs._tag import Tag

EXPECT = "ENV049"


class Slate(Tag):
    def seen(self, agents):
        slate = np.empty(3, np.float32)
        shown = {}
        for each in agents:
            slate[:] = self.view(each)
            shown[each] = slate
        return shown


def make():
    return Slate()


def sound():
    return Tag()
