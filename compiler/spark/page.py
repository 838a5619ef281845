"""The page of a profile: curves of rates and keys, tables of figures, in one HTML file that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dfc.compiler.artifacts.profile import OperatorProfile, Profile
from dfc.compiler.report.chart import PAGE, Sheet, Theme, xml
from dfc.compiler.report.style import STYLE
from dfc.compiler.report.units import UNKNOWN, clock_text, count_text, rate_text, share_text, time_text

_RATES = {"lowest": "lowest rate", "p05": "5 %", "p50": "median", "p95": "95 %", "p99": "99 %", "highest": "highest"}
_SERVICE = ("service", "p50", "p90", "p99")
_SEASONS = {"daily": ("Day", 3600.0), "weekly": ("Week", 86400.0)}


def page(profile: Profile) -> str:
    title = f"{profile.app}: profile of its traces"
    body = [f"<h1>{xml(title)}</h1>"]
    for name, seen in profile.seen.items():
        body += [f"<h2>Source {xml(name)}</h2>", _cards(seen), *_source(name, seen)]
    for name, one in profile.operators.items():
        if one.keys or one.alternates:
            body += [f"<h2>{xml(name)}</h2>", *_operator(name, one, profile)]
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{xml(title)}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n")


# --- sources ----------------------------------------------------------------------------------------


def _cards(seen: Mapping) -> str:
    arrivals, disorder = seen.get("arrivals") or {}, seen.get("disorder") or {}
    dispersion, hurst = arrivals.get("dispersion") or {}, arrivals.get("hurst") or {}
    cards = [("tuples", count_text(seen["rows"])), ("rejected rows", count_text(seen["rejected"])),
             ("time", clock_text(seen.get("seconds"))), ("mean rate", rate_text(seen.get("rate"))),
             ("variation of gaps", _number((arrivals.get("gaps") or {}).get("cv"))),
             ("index of dispersion", _number(dispersion.get("value"))), ("Hurst exponent", _number(hurst.get("value"))),
             ("out of order", share_text(disorder.get("out_of_order"))),
             ("longest delay K", time_text(disorder.get("k")))]
    return "<dl>" + "".join(f"<div><dt>{xml(name)}</dt><dd>{xml(value)}</dd></div>" for name, value in cards
                            if value != UNKNOWN) + "</dl>"


def _source(name: str, seen: Mapping) -> list[str]:
    arrivals = seen.get("arrivals")
    if not arrivals:
        return []
    parts = [f"<figure>{rate_sheet(name, seen, PAGE)}</figure>", _scales(arrivals["scales"]), _window(arrivals)]
    parts += [f"<figure>{_season(season, found)}</figure>" for season, found in (seen.get("seasons") or {}).items()]
    delays = (seen.get("disorder") or {}).get("quantiles") or {}
    parts += [_table(("delay", *delays), [("", *(time_text(one) for one in delays.values()))])]
    fitted = seen.get("forecast")
    if fitted:
        better = 1 - fitted["error"] / fitted["error_of_last"] if fitted["error_of_last"] else 0.0
        parts.append(f"<p>Forecast of the next {time_text(fitted['step'])}: level {fitted['level']:g}, trend "
                     f"{fitted['trend']:g}, mean error {rate_text(fitted['error'])}, {share_text(better)} less than by "
                     "the last value.</p>")
    return parts


def rate_sheet(name: str, seen: Mapping, theme: Theme) -> str:
    """The rates at each resolution that has not too many points."""
    sheet = Sheet(f"Rates of {name}", seen["seconds"], theme)
    for one in seen["arrivals"]["series"][:3]:
        values = one["rates"]
        panel = sheet.panel(f"rate, every {time_text(one['seconds'])}", top=max(values) * 1.05, form=rate_text)
        points = [((at + 0.5) * one["seconds"], value) for at, value in enumerate(values)]
        panel.line(points, theme.curves[0], width=1.2)
    return sheet.svg()


def _season(name: str, found: Mapping) -> str:
    title, slot = _SEASONS[name]
    values = found["relative"]
    sheet = Sheet(f"{title} (UTC)", slot * len(values))
    panel = sheet.panel(f"{title.lower()}, relative to the mean (UTC); explains {share_text(found['strength'])}",
                        top=max(values) * 1.05, form=_number)
    panel.stairs([(at * slot, (at + 1) * slot, value) for at, value in enumerate(values)], PAGE.curves[1])
    return sheet.svg()


def _scales(scales: Sequence[Mapping]) -> str:
    rows = [(time_text(one["seconds"]) if one["seconds"] < 60 else clock_text(one["seconds"]), f"{one['bins']:,}",
             _number(one["dispersion"]), *(rate_text(one[part]) for part in _RATES)) for one in scales]
    return _table(("resolution", "bins", "index of dispersion", *_RATES.values()), rows)


def _window(arrivals: Mapping) -> str:
    dispersion, hurst = arrivals.get("dispersion"), arrivals.get("hurst")
    words = []
    if dispersion:
        words.append(f"index of dispersion from counts over {time_text(dispersion['seconds'])} during "
                     f"{clock_text(dispersion['span'])}")
    if hurst:
        words.append(f"Hurst exponent from means over {time_text(hurst['from'])} to {clock_text(hurst['to'])}")
    return f"<p class=soft>Estimated: {xml('; '.join(words))}.</p>" if words else ""


# --- operators --------------------------------------------------------------------------------------


def _operator(name: str, one: OperatorProfile, profile: Profile) -> list[str]:
    parts = []
    if one.keys:
        figures = one.key_figures
        about = "" if figures.get("exact", True) else " (estimated)"
        parts.append(f"<p>{one.keys.count:,} keys{about}; the heaviest has {one.keys.p_max:.2%} of the tuples.</p>")
        if any(figures.get("over_time") or ()):
            parts.append(f"<figure>{_over_time(name, one, profile)}</figure>")
        if figures.get("heavy"):
            parts.append(_table(("key", "share"), [(key, f"{share:.3%}") for key, share in figures["heavy"]]))
        if figures.get("ranks"):
            parts.append(_table(("heaviest", *(f"{2 ** at:,}" for at in range(len(figures["ranks"])))),
                                [("have together", *(share_text(share) for share in figures["ranks"]))]))
    if one.alternates:
        parts.append(_table(("alternate", "value", "service time", "50 %", "90 %", "99 %", "results a trigger"), [
            (key, _number(found.get("value")), *(time_text(found.get(part)) for part in _SERVICE),
             _number(found.get("results"))) for key, found in one.alternates.items()]))
    return parts


def _over_time(name: str, one: OperatorProfile, profile: Profile) -> str:
    slices = one.key_figures["over_time"]
    seconds = max((seen.get("seconds") or 0.0 for seen in profile.seen.values()), default=0.0) or 1.0
    width = seconds / len(slices)
    sheet = Sheet(f"Keys of {name}", seconds)
    top = max(found[1] for found in slices if found)
    panel = sheet.panel("share of the heaviest key", top=top * 1.1, form=_percent)
    panel.stairs([(at * width, (at + 1) * width, found[1] if found else math.nan) for at, found in enumerate(slices)],
                 PAGE.curves[2])
    sheet.hover([(at * width, (at + 1) * width, f"{found[0]}: {found[1]:.2%}")
                 for at, found in enumerate(slices) if found])
    return sheet.svg()


def _percent(value: float) -> str:
    return f"{value * 100:.3g} %"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else count_text(value)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """What stands behind the first column are numbers."""
    def row(kind: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{kind}{' class=n' if at else ''}>{xml(text)}</{kind}>"
                                for at, text in enumerate(cells)) + "</tr>"

    return "<div class=wide><table>" + row("th", head) + "".join(row("td", one) for one in rows) + "</table></div>"
