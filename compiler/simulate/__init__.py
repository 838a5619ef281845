"""Simulation of what this machine can't show: more cores than there are, and loads that change.

Patterns, event by event: `stations.py` are the threads, `arrivals.py` brings tuples, `patterns.py` plays the patterns,
`scalability.py` asks for tables. Costs are those of the models, so that the two can be compared, and the machine with
both.

Controllers, a second at a time: `rates.py` reads what comes, `trace.py` makes triggers of it, `plant.py` serves them,
`measure.py` is what a controller sees, `control_library.py` the controllers themselves. `trial.py` is one run,
`experiment.py` many; `scenario.py` and `variants.py` make them from a program and the words of a command.
"""
