"""Search for a plan: patterns, degrees, alternates and controllers tried by the simulator over recorded rates.

`recorded.py` reads the rates of a profile, `scene.py` makes of a program what is simulated, `space.py` says what can be
tried, `search.py` tries it, `runs.py` remembers what was played, `judge.py` compares, `outcome.py` is what a search
ends with, `page.py` shows it. Runs are played on this machine (`workers.py`), or on Spark
(`compiler/spark/optimize.py`).
"""
