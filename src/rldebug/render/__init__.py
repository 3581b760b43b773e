"""One output per file; each reads a Report or a Run and nothing else."""
