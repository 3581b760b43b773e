"""The page of a run while it goes on: `rldebug dashboard`. A small server on this machine, for one user, read-only.

The server imports no torch. It reads run folders (desk.py), and has them judged by a worker process (judging.py,
judge.py).
"""
