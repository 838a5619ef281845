"""Typed program → dataflow graph, the passes over it, and its picture."""
