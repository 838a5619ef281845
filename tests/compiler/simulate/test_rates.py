"""Files of rates and of keys; what can't be is refused with its place."""

from __future__ import annotations

import pytest
from dfc.compiler.failure import Usage
from dfc.compiler.simulate.rates import read_keys, read_rates


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "walk.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)
    return write


def test_a_rate_a_line(file):
    assert read_rates(file("# from the morning\n100\n0\n 250.5 # a peak\n\n")) == (100.0, 0.0, 250.5)


def test_seconds_and_rates(file):
    assert read_rates(file("4\n0 100\n1 200\n3 50\n")) == (100.0, 200.0, 200.0, 50.0)


def test_one_rate_is_one_second(file):
    assert read_rates(file("100")) == (100.0,)


@pytest.mark.parametrize(("text", "place", "what"), [
    ("", "walk.txt", "holds no rate"),
    ("# nothing\n", "walk.txt", "holds no rate"),
    ("100\nnan\n", "walk.txt:2", "`nan` is not a rate"),
    ("100\n-5\n", "walk.txt:2", "`-5` is no rate"),
    ("100\ninf\n", "walk.txt:2", "`inf` is not a rate"),
    ("100\n1e300\n", "walk.txt:2", "is no rate"),
    ("100\nfast\n", "walk.txt:2", "`fast` is not a rate"),
    ("3\n0 100\n1 nan\n", "walk.txt:3", "`nan` is not a rate"),
    ("3\n0 100\n1\n", "walk.txt:3", "expected `second rate`"),
    ("3\n0 100\n3 1\n", "walk.txt:3", "not one of 0 to 2"),
    ("3\n0 100\n2 1\n1 1\n", "walk.txt:4", "must ascend"),
    ("3\n0 100\n0 1\n", "walk.txt:3", "must ascend"),
    ("3\n1 100\n", "walk.txt", "second 0 has no rate"),
    ("1e9\n0 100\n", "walk.txt:1", "there can be 1 to"),
    ("1 2\n3\n", "walk.txt:1", "expected one number"),
    ("180\n0 100\n1 200\n", "walk.txt:1", "180 seconds, but the last line is of second 1; write 2 there"),
    ("9\n0 100\n2 6000\n5 1500\n", "walk.txt:1", "9 seconds, but the last line is of second 5"),
    (b"\xff\xfe\x00", "walk.txt", "no UTF-8"),
])
def test_rates_that_cannot_be(file, text, place, what):
    with pytest.raises(Usage) as refused:
        read_rates(file(text))
    assert f"{place}: " in str(refused.value) and what in str(refused.value)


def test_a_file_that_is_not_there():
    with pytest.raises(Usage, match="no-such-file: No such file"):
        read_rates("no-such-file")


def test_keys_are_made_to_add_up(file):
    assert read_keys(file("2\n1\n1\n")) == (0.5, 0.25, 0.25)
    assert read_keys(file("3 1\n0 0.2 0.2 0.1\n")) == pytest.approx((0.4, 0.4, 0.2))


@pytest.mark.parametrize(("text", "what"), [
    ("0\n0\n", "all shares are zero"), ("1\n-1\n", "walk.txt:2: `-1` is no share"),
    ("1\nnan\n", "`nan` is not a share"),
    ("3 1\n0 0.5 0.5\n", "walk.txt:2: expected a time and 3 shares, got 3 words"), ("", "holds no key"),
])
def test_keys_that_cannot_be(file, text, what):
    with pytest.raises(Usage) as refused:
        read_keys(file(text))
    assert what in str(refused.value)
