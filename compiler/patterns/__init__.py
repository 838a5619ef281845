"""The parallel patterns, one file each: when a pattern applies, which configurations it has, what each costs.

A pattern is a module with

    NAME            what programs call it
    applies         what is known of a function → None, or why the pattern can't be used
    configurations  the settings worth trying with so many workers
    cost            load, machine, settings → prediction

`PATTERNS` holds them all.
"""

from __future__ import annotations

from types import ModuleType

from . import (
    farm,
    key_partitioning,
    nesting,
    pane_farming,
    sequential,
    window_farming,
    window_partitioning,
)

PATTERNS: dict[str, ModuleType] = {module.NAME: module for module in (
    sequential, farm, key_partitioning, window_farming, pane_farming, window_partitioning, nesting)}

__all__ = ["PATTERNS"]
