"""The comparison that other tests trust."""

from __future__ import annotations

from tests.rows import difference


def test_order_does_not_matter_but_number_does():
    assert difference([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]) == ""
    assert "1 missing" in difference([("a", "1"), ("a", "1")], [("a", "1")])
    assert "1 too many" in difference([("a", "1")], [("a", "1"), ("a", "1")])


def test_floats_may_differ_in_the_last_digits():
    assert difference([("a", "0.1")], [("a", "0.10000000000000002")]) == ""
    assert difference([("a", "0.1")], [("a", "0.100001")]) != ""
    assert difference([("a", "3")], [("a", "3.0")]) == ""
    assert difference([("a", "nan"), ("a", "1.5")], [("a", "1.5"), ("a", "nan")]) == ""
    assert difference([("inf",)], [("-inf",)]) != ""


def test_integers_are_exact():
    assert difference([("9007199254740993",)], [("9007199254740992",)]) != ""


def test_nothing_equals_nothing():
    assert difference([], []) == ""
    assert difference([], [("1",)]) != ""
