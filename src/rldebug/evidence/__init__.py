"""One kind of evidence per file: its dataclass, and the function that collects it."""
