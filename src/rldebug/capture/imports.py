"""Called when a module gets imported: a library is hooked when the program asks for it, and never imported for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from rldebug.capture.switch import Switchboard


def when_imported(switch: Switchboard, group: str, name: str, look: Callable[[ModuleType], Any]) -> None:
    """Call `look` with the module once it has been executed: at once where it has been, else right after its import."""
    module = sys.modules.get(name)
    if module is not None:
        switch.guard(group, look, module)
        return
    finder = _Finder(switch, group, name, look)
    sys.meta_path.insert(0, finder)
    switch.when_undone(finder.leave)


class _Finder:
    """Finds nothing itself: asks the finders behind it, and has the loader they name say when it is done."""

    def __init__(self, switch: Switchboard, group: str, name: str, look: Callable[[ModuleType], Any]) -> None:
        self.switch, self.group, self.name, self.look = switch, group, name, look

    def leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name or self not in sys.meta_path:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(name, path, target)
            if spec is not None:
                self.switch.guard(self.group, self._listen, spec)
                return spec
        return None

    def _listen(self, spec: ModuleSpec) -> None:
        # On the loader itself, for the one call: `module.__loader__` stays what it would be without us.
        loader: Any = spec.loader
        if not hasattr(loader, "__dict__") or isinstance(loader, type):
            return  # none of Python's own for source files
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)  # another who waits may have done it
            execute(module)
            self.switch.guard(self.group, self.look, module)

        loader.exec_module = exec_module
