"""Training programs that keep the truth about their own time. Each is a user's script, in a style of its own.

COST_<PART>=ms makes a place slower, COST_KIND says how: burn (a busy loop), sleep, or torch (work in C). What was
spent where is written to $TRUTH. python <program>.py SIZE
"""
