"""What a program can see of how it was started."""

import json
import os
import pickle
import signal
import sys


class Own:
    """Pickled by where it lies: in `__main__`."""


def about():
    main = sys.modules["__main__"]
    return {
        "argv": sys.argv,
        "orig": sys.orig_argv[1:],
        "path": sys.path,
        "names": sorted(name for name in vars(main) if name.startswith("__")),
        "file": __file__,
        "doc": __doc__,
        "spec": None if __spec__ is None else __spec__.name,
        "package": __package__,
        "loader": type(__loader__).__name__,
        "builtins": type(__builtins__).__name__,
        "cached": __cached__,
        "itself": main.about is about,
        "pickled": type(pickle.loads(pickle.dumps(Own()))) is Own,
        "heavy": [name for name in ("torch", "numpy") if name in sys.modules],
        "signals": [str(signal.getsignal(each)) for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)],
        "environment": sorted(name for name in os.environ if name.lower().startswith("rldebug")),
        "stdin": sys.stdin.read(),
        "cwd": os.getcwd(),
        "hook": sys.excepthook is sys.__excepthook__,
        "flags": list(sys.flags),
        "modules": sys.modules["__main__"].__name__,
    }


if __name__ == "__main__":
    print(json.dumps(about()))
