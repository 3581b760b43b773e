"""The window in which the agent is seen playing: `python -m rldebug.capture.window TITLE`, with frames on its stdin.

A process of its own: whatever becomes of it, the program goes on. It ends with the pipe, or when it is closed.
"""

from __future__ import annotations

import os
import select
import sys
from typing import Any

from rldebug.capture.viewer import HEAD, MAGIC

_WIDE = 480  # pixels, at least: frames of Atari are small
_OFTEN = 0.03  # seconds


def main(title: str) -> None:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    import pygame

    pygame.display.init()
    pygame.display.set_caption(title)
    screen: Any = None
    held = b""
    os.set_blocking(0, False)
    while True:
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            return
        if not select.select([0], [], [], _OFTEN)[0]:
            continue
        try:
            data = os.read(0, 1 << 20)
        except BlockingIOError:
            continue
        if not data:
            return
        frame, held = newest(held + data)
        if frame is None:
            continue
        width, height, colours = frame
        scale = -(-_WIDE // width)
        if screen is None or screen.get_size() != (width * scale, height * scale):
            screen = pygame.display.set_mode((width * scale, height * scale))
        picture = pygame.image.frombuffer(colours, (width, height), "RGB")
        screen.blit(pygame.transform.scale(picture, screen.get_size()), (0, 0))
        pygame.display.flip()


def newest(data: bytes) -> tuple[tuple[int, int, bytes] | None, bytes]:
    """The last whole frame, and what comes after it. Raises ValueError for anything but frames."""
    found = None
    while len(data) >= HEAD.size:
        magic, width, height = HEAD.unpack_from(data)
        if magic != MAGIC:
            raise ValueError("expected frames on stdin")
        end = HEAD.size + width * height * 3
        if len(data) < end:
            break
        found, data = (width, height, data[HEAD.size : end]), data[end:]
    return found, data


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "rldebug")
