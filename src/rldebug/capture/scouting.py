"""Scout: waits for ends of episodes in what a program learns from as it is played.

How a target is made where an episode ends shows in few rows, and a short program has few audits. Where those held
hardly any end of a kind that does happen, a phase is looked at while it is acted. It becomes an audit if there was one
in it by the time of the first loss, and is dropped if not: nothing is told of it, nothing that others compare is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rldebug.capture.recording import Recording

if TYPE_CHECKING:
    from rldebug.capture.session import Session

_ENDS = 8  # ends of episodes of either kind that audits are to hold
_KINDS = ("terminations", "truncations")
_SCOUTED = 64  # phases that are looked at for one, and dropped where there was none
_KEPT = 5
_SECONDS = 0.5  # that may go into those that were dropped
_STREAMS = 64


class Scout:
    def __init__(self, session: Session, begin: Callable[[], None], spent: Callable[[], float]) -> None:
        self.session = session
        self.next = 0  # phase
        self._begin, self._spent = begin, spent
        self._learned: list[Any] = []  # streams that are learned from as they are played
        self._ends = dict.fromkeys(_KINDS, 0)  # of what was learned from in audits
        self._scouted = self._kept = 0
        self._seconds = 0.0

    def look(self) -> None:
        """At the beginning of a phase that is not audited."""
        session = self.session
        self.next = session.phase + 1 + session.phase // 16
        left = self._scouted < _SCOUTED and self._kept < _KEPT and self._seconds < _SECONDS
        if not (left and self._learned) or all(count >= _ENDS for count in self._ends.values()):
            return
        session.log.flush()
        happened = self._happened()
        lacking = {kind: happened[kind] for kind in _KINDS if self._ends[kind] < _ENDS and happened[kind]}
        if not lacking:
            return
        self._scouted += 1
        self._begin()
        if session.audit is not None:
            session.audit.scouts_for, session.audit.heard, session.audit.since = lacking, None, self._spent()

    def found(self, audit: Recording) -> bool:
        """Before the first loss of an audit that began for the sake of an end: whether there was one."""
        happened, sought = self._happened(), audit.scouts_for or {}
        if all(happened[kind] <= before for kind, before in sought.items()):
            return False
        audit.scouts_for = None
        self._kept += 1
        return True

    def dropped(self, audit: Recording) -> None:
        self._seconds += self._spent() - audit.since

    def saw(self, audit: Recording, learned: list[Any]) -> None:
        """The steps that an audit's losses learned from, each as often as it was."""
        fresh = [node for node in learned if node.phase >= audit.phase and node.acted]
        if audit.evaluation is not None or not learned:
            return
        if len(fresh) <= 0.5 * len(learned):
            self._learned.clear()  # a memory is learned from: what is played now is not
            return
        for node in {each.id: each for each in fresh}.values():
            stream = self.session.log.streams[node.stream]
            if stream not in self._learned and len(self._learned) < _STREAMS:
                self._learned.append(stream)
            self._ends["terminations"] += node.terminated
            self._ends["truncations"] += node.truncated

    def _happened(self) -> dict[str, int]:
        return {kind: sum(getattr(each, kind) for each in self._learned) for kind in _KINDS}
