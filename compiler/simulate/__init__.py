"""Discrete-event simulation of the patterns: what throughput and latency would be with more cores than there are.

`stations.py` are the threads, `arrivals.py` brings tuples, `patterns.py` plays the patterns, `scalability.py` asks for
tables. Costs are those of the models, so that the two can be compared, and the machine with both.
"""
