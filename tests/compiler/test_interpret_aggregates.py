"""Aggregates against Python's statistics module, and where they meet NaN, infinity and wrap-around."""

from __future__ import annotations

import math
import statistics

import pytest
from dfc.compiler.interpret.aggregates import accumulator
from dfc.dsl.types import F64, I64, U64
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.hand_built import aggregate, ref

FLOATS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)
NAN, INF = math.nan, math.inf


def result(function, values, *settings, type_=F64, times=None):
    running = accumulator(aggregate(function, ref("x", type_), *settings, type_=type_))
    for value, time in zip(values, times or range(len(values)), strict=True):
        running.add(value, time)
    return running.result()


def same(a, b):
    return a == b or math.isnan(a) and math.isnan(b)


@given(FLOATS)
def test_sums_and_means(values):
    assert result("count", values, type_=I64) == len(values)
    assert math.isclose(result("sum", values), math.fsum(values), rel_tol=1e-9, abs_tol=1e-6)
    assert math.isclose(result("avg", values), statistics.fmean(values), rel_tol=1e-9, abs_tol=1e-6)
    assert result("min", values) == min(values) and result("max", values) == max(values)


@given(FLOATS)
def test_deviations(values):
    assert math.isclose(result("stddev_pop", values), statistics.pstdev(values), rel_tol=1e-7, abs_tol=1e-6)
    if len(values) > 1:
        assert math.isclose(result("stddev", values), statistics.stdev(values), rel_tol=1e-7, abs_tol=1e-6)


@given(FLOATS)
def test_quantiles(values):
    assert math.isclose(result("median", values), statistics.median(values), rel_tol=1e-9, abs_tol=1e-6)
    if len(values) > 1:
        quarters = statistics.quantiles(values, n=4, method="inclusive")
        for q, expected in zip((0.25, 0.5, 0.75), quarters, strict=True):
            assert math.isclose(result("quantile", values, q), expected, rel_tol=1e-9, abs_tol=1e-6)
    assert result("quantile", values, 0.0) == min(values) and result("quantile", values, 1.0) == max(values)


def test_one_value():
    assert math.isnan(result("stddev", [3.0])) and result("stddev_pop", [3.0]) == 0.0
    assert result("median", [3.0]) == 3.0 == result("ewma", [3.0], 0.1)


def test_equal_values_do_not_deviate_at_all():
    assert result("stddev", [0.1] * 7) == 0.0


@pytest.mark.parametrize("function", ["sum", "avg", "stddev", "stddev_pop"])
def test_nan_goes_through(function):
    assert math.isnan(result(function, [1.0, NAN, 2.0]))


@pytest.mark.parametrize("function, values, expected", [
    ("min", [NAN, 2.0, NAN, 1.0, NAN], 1.0), ("max", [NAN, 1.0, 2.0, NAN], 2.0), ("min", [NAN, NAN], NAN),
    ("median", [NAN, 1.0, 3.0], 2.0), ("median", [NAN], NAN), ("min", [INF, NAN], INF),
    ("median", [INF, INF], INF), ("median", [-INF, INF], NAN), ("median", [1.0, INF], INF),
])
def test_nan_is_skipped(function, values, expected):
    assert same(result(function, values), expected)


def test_quantile_skips_nan_and_takes_infinities():
    assert result("quantile", [NAN, 1.0, 2.0, 3.0], 0.25) == 1.5
    assert result("quantile", [1.0, 2.0, INF], 0.5) == 2.0


def test_integer_sums_wrap():
    assert result("sum", [2**63 - 1, 1], type_=I64) == -2**63
    assert result("sum", [2**64 - 1, 2], type_=U64) == 1


def test_integer_extremes_keep_their_type():
    assert result("max", [3, -7, 5], type_=I64) == 5
    assert result("min", [2**64 - 1, 2**63], type_=U64) == 2**63


def test_ewma():
    assert result("ewma", [8.0, 4.0, 2.0], 0.25) == 0.25 * 2 + 0.75 * (0.25 * 4 + 0.75 * 8)


def test_first_and_last_by_time_and_then_by_arrival():
    assert result("first", [1, 2, 3, 4], type_=I64, times=[7, 5, 5, 7]) == 2
    assert result("last", [1, 2, 3, 4], type_=I64, times=[7, 5, 7, 5]) == 3
