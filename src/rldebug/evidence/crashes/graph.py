"""What the graph of a loss tells of an error of autograd: which tensor, where it was made, where it was changed.

Asked of the live frames, once. The graph says what a tensor is connected with; when a line was executed only the text
of the program can tell, unless the lines were kept (rldebug.evidence.crashes.creation_sites).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FrameType

from rldebug.evidence.crashes.absent import ABOUT_ATTRIBUTES, ABOUT_PLACES, attribute_facts, place_facts
from rldebug.evidence.crashes.changed import changed_facts
from rldebug.evidence.crashes.cut import cut_facts
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.frames import own_frame
from rldebug.evidence.crashes.leaves import ABOUT_LEAVES, leaf_facts
from rldebug.evidence.crashes.named import named
from rldebug.evidence.crashes.observed import ABOUT_WIDTHS, observed_facts
from rldebug.evidence.crashes.refused import ABOUT_REFUSED, refused_facts
from rldebug.evidence.crashes.scene import Scene
from rldebug.evidence.crashes.source import place_of, stack_of
from rldebug.evidence.crashes.twice import twice_facts
from rldebug.evidence.crashes.walk import roots_of

_NUMBER = re.compile(r"-?\d+|np\.int\d+\(\d+\)")
_OWN = 6  # innermost frames of the user's own that are looked at

_ABOUT: tuple[tuple[tuple[str, ...], Callable[[Scene], Fact]], ...] = (
    (("backward through the graph a second time", "after they have already been freed"), twice_facts),
    (("modified by an inplace operation",), changed_facts),
    (("does not require grad and does not have a grad_fn",), cut_facts),
    (ABOUT_LEAVES, leaf_facts),
    (ABOUT_REFUSED, refused_facts),
    (ABOUT_ATTRIBUTES, attribute_facts),
    (ABOUT_PLACES, place_facts),
    (ABOUT_WIDTHS, observed_facts),
)


def graph_of(message: str, levels: list[tuple[FrameType, int, int]]) -> Fact:
    """Empty where the error is not one of autograd. Levels: frame, line and instruction, from the outermost in."""
    facts = next((each for texts, each in _ABOUT if any(text in message for text in texts)), None)
    facts = place_facts if facts is None and _NUMBER.fullmatch(message) else facts  # KeyError: 1508
    if facts is None:
        return {}
    own = [(frame, line) for frame, line, _ in levels if own_frame(frame)][-_OWN:]
    frames = [frame for frame, _ in own]
    scene = Scene(
        message=message,
        frames=[frame for frame, _, _ in levels],
        own=frames,
        stack=stack_of(own),
        places={id(frame): place for frame, line in own if (place := place_of(frame, line)) is not None},
        named=named(frames),
        roots=roots_of([frame for frame, _, _ in levels]),
    )
    return facts(scene) if own else {}
