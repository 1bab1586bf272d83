import pytest

from colabel.report import words


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (99_400, "99.4 kB"), (123_456, "123 kB"),
     (999_600, "1.0 MB"), (2.5e9, "2.5 GB"), (7e15, "7000 TB")],
)  # fmt: skip
def test_sizes(number: float, text: str) -> None:
    assert words.size(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0004, "0.4 ms"),
        (0.03, "30 ms"),
        (0.2, "0.2 s"),
        (59.0, "59.0 s"),
        (90.0, "1.5 min"),
        (7200, "2.0 h"),
        (1e7, "116 days"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


def test_shares() -> None:
    assert words.percent(None) == "–"
    assert words.percent(0.9123) == "91.2 %"
    assert words.mean_and_sd([0.5, 0.7]) == "60.0 ± 14.1 %"
    assert words.mean_and_sd([0.5]) == "50.0 %"
    assert words.mean_and_sd([None]) == "–"


def test_whose() -> None:
    assert words.whose(("a", "b"), 2) == "all 2 sites"
    assert words.whose(("a",), 1) == "site a"
    assert words.whose(("a", "b"), 9) == "a, b"
    assert words.whose(("a", "b", "c", "d"), 9) == "4 of 9 sites"
