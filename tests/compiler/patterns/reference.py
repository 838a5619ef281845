"""The benchmark of 002 §4.9.2: 1000 keys, windows of 1000 tuples, slide 200, T_G 1.5 ms a pane, T_H 20 us."""

from __future__ import annotations

from dataclasses import replace

from dfc.compiler.patterns.function import Function
from dfc.compiler.patterns.load import Costs, Load, Machine
from dfc.compiler.select.traffic import skewed
from dfc.compiler.simulate.scalability import Operator, with_keys

LOAD = Load(Costs(tuple=5.0, pane=1.5e6, window=7.52e6, merge=2e4), window=1000, slide=200, panes=5, keys=1000,
            p_max=0.001, spread=0.001)
FUNCTION = Function("predict", stateless=False, keyed=True, window="count", pane_tuples=200, decomposable=True)
MACHINE = Machine(cores=10**6)  # a core for each thread
OPERATOR = Operator("predict", FUNCTION, LOAD, skewed(1000, 0.0), before=0.0, after=0.0)


def operator(**changes) -> Operator:
    """The reference with another load: `costs`, `shares_panes`, `rate`."""
    return with_keys(replace(OPERATOR, load=replace(LOAD, **changes)), OPERATOR.keys)
