"""How far out of order tuples come: the delay of a tuple is how much older it is than the newest one before it.

K is the longest delay: with that slack nothing would have been late. Quantiles tell what a shorter slack would cost."""

from __future__ import annotations

from collections.abc import Mapping

from .measure import bucket_top
from .rates import short

_QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def disorder(buckets: Mapping[int, int], longest: int, rows: int, unit: float) -> dict[str, object]:
    """`unit` is the seconds of a unit of event time. Quantiles are of all tuples; those in order have delay 0."""
    late = sum(buckets.values())
    return {"out_of_order": short(late / rows) if rows else 0.0, "k": short(longest * unit),
            "quantiles": {f"p{str(one)[2:].ljust(2, '0')}": short(min(_quantile(buckets, rows, one), longest) * unit)
                          for one in _QUANTILES}}


def _quantile(buckets: Mapping[int, int], rows: int, share: float) -> float:
    """To within a thirty-second of a doubling, from above."""
    behind = rows - sum(buckets.values())
    if behind >= share * rows:
        return 0.0
    for bucket in sorted(buckets):
        behind += buckets[bucket]
        if behind >= share * rows:
            return bucket_top(bucket)
    return bucket_top(max(buckets))
