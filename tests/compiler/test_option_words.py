"""Words of the command line that are numbers with units."""

from __future__ import annotations

import argparse

import pytest
from dfc.compiler.option_words import rate, source_rate


@pytest.mark.parametrize(("word", "meant"), [("300000", 3e5), ("300k", 3e5), ("300k/s", 3e5), ("1.5M/s", 1.5e6),
                                             ("2G", 2e9), ("1e5", 1e5), ("50/s", 50.0)])
def test_a_rate_is_written_as_in_programs(word, meant):
    assert rate(word) == meant and source_rate(f"quotes={word}") == ("quotes", meant)


@pytest.mark.parametrize("word", ["", "/s", "k", "k/s", "0", "-3k", "nan", "inf", "1e12", "2T", "3 k/m", "300k/s/s"])
def test_what_is_no_rate_is_refused(word):
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number of tuples a second"):
        rate(word)
