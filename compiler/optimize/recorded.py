"""The rates that a profile recorded, a number for each second, as the simulator takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..artifacts.profile import Profile
from ..failure import Usage

LONGEST = 600  # seconds that are played of a longer recording


def recorded_rates(profile: Profile, longest: int = LONGEST) -> tuple[tuple[float, ...], list[str]]:
    """Tuples a second of all sources together, and what was left out or assumed. Of a long recording the stretch that
    brings most is played: what is short there is short nowhere else."""
    series = {name: found for name, one in profile.seen.items() if (found := _by_second(one))}
    if not series:
        raise Usage("the profile has no recorded rates: make it with `dfc profile` from traces that have event times "
                    "(`dfc calibrate` measures costs only)")
    said = [f"`{name}` has no recorded rates: its mean of {rate:g}/s is taken all the time"
            for name, rate in profile.rates.items() if name not in series]
    constant = sum(rate for name, rate in profile.rates.items() if name not in series)
    starts = {name: round(profile.seen[name].get("start") or 0.0) for name in series}
    first = min(starts.values())
    end = max(starts[name] - first + len(rates) for name, rates in series.items())
    if end > 1_000_000:
        raise Usage("the recorded rates of the sources lie more than eleven days apart; profile them from one time")
    total = [constant] * end
    for name, rates in series.items():
        for at, rate in enumerate(rates, starts[name] - first):
            total[at] += rate
    return _busiest(total, longest, said), said


def _busiest(rates: Sequence[float], longest: int, said: list[str]) -> tuple[float, ...]:
    if len(rates) <= longest:
        return tuple(rates)
    window = best = sum(rates[:longest])
    start = 0
    for at in range(longest, len(rates)):
        window += rates[at] - rates[at - longest]
        if window > best * (1 + 1e-12):
            best, start = window, at - longest + 1
    said.append(f"of {len(rates)} recorded seconds the {longest} that bring most are played, from second {start} on")
    return tuple(rates[start:start + longest])


def _by_second(seen: Mapping[str, Any]) -> list[float]:
    """From the series whose resolution is nearest to a second: finer ones are averaged, coarser ones held."""
    arrivals = seen.get("arrivals")
    found = [one for one in (arrivals.get("series") or []) if _is_series(one)] if isinstance(arrivals, dict) else []
    if not found:
        return []
    best = min(found, key=lambda one: (abs(_steps(one["seconds"])), one["seconds"] > 1))
    seconds, rates = best["seconds"], best["rates"]
    if seconds >= 1:
        return [float(rate) for rate in rates for _ in range(round(seconds))]
    size = round(1 / seconds)
    whole = len(rates) // size * size
    return [sum(rates[at:at + size]) / size for at in range(0, whole, size)]


def _steps(seconds: float) -> int:
    """How many resolutions away from one second; they grow about tenfold."""
    count, at = 0, float(seconds)
    while at > 3 or at < 0.4:
        at, count = (at / 10, count + 1) if at > 3 else (at * 10, count + 1)
    return count


def _is_series(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("rates"), list):
        return False
    numbers = [one.get("seconds"), *one["rates"]]
    return one["seconds"] in (0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 86400) and bool(one["rates"]) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 for value in numbers)
