"""How a running program is watched: one thing hooked per file. Nothing here changes what the program computes."""
