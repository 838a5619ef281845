"""Traffic that is made up: when tuples come, of which keys, how late, with which fields; and files of them.

One file an arrival process; `processes.py` has the table of them. Everything is deterministic for a seed.
"""
