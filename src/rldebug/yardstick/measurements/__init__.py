"""One measurement per file: `NAME`, `asked(timing)`, `measure(shape)`; `prepare()` where something is compiled."""
