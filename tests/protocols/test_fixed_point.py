"""Numbers in rings: the stated errors and bounds, to the last bit, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from colabel.protocols.sums.fixed_point import FORMATS, decode, encode, fits

ERRORS = {"scores": (-41, True), "wide": (-97, True), "updates": (-21, False), "counts": (None, 0),
          "votes": (None, 0)}  # fmt: skip
LARGEST = {"scores": 2**23, "wide": 2**191, "updates": 2**11, "counts": 2**15, "votes": 2**8}


def bound(name, n_summands, total):
    """What the docstring of fixed_point says."""
    power, rounded = ERRORS[name]
    own = n_summands * Fraction(2) ** power if power is not None else 0
    return own + (abs(total) * Fraction(2) ** -52 if rounded else 0)


def summed(name, columns):
    """Encode each site's numbers, add in the ring, decode."""
    form = FORMATS[name]
    total = sum((encode(column[:, None], form) for column in columns[1:]),
                encode(columns[0][:, None], form))  # fmt: skip
    assert total.dtype == form.ring
    return decode(total, form)[:, 0]


def numbers_of(name, n_sites):
    most = float(LARGEST[name]) / n_sites
    if ERRORS[name][0] is None:
        low = 0 if name == "votes" else -int(most) + 1
        return st.integers(low, int(most) - (1 if n_sites == 1 else 0)).map(float)
    return st.floats(-most, most, exclude_min=True, exclude_max=True)


def test_all_formats_are_tested():
    assert set(FORMATS) == set(ERRORS) == set(LARGEST)
    assert {name: form.largest for name, form in FORMATS.items()} == LARGEST


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_sums_are_as_near_as_stated(name, data):
    n_sites = data.draw(st.integers(1, 9))
    drawn = data.draw(
        st.lists(st.lists(numbers_of(name, n_sites), min_size=n_sites, max_size=n_sites),
                 min_size=1, max_size=4)
    )  # fmt: skip
    columns = np.array(drawn).T
    if not all(fits(column[:, None], FORMATS[name], n_sites) for column in columns):
        return  # refused, which the next tests look at
    found = summed(name, columns)
    for row, got in zip(drawn, found, strict=True):
        total = sum(map(Fraction, row))
        assert abs(Fraction(float(got)) - total) <= bound(name, n_sites, total)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("n_sites", [1, 2, 3, 7, 100])
def test_what_could_overflow_is_refused_and_nothing_less(name, n_sites):
    """Just below the bound the sum is right, at the bound it is refused."""
    form, largest = FORMATS[name], LARGEST[name]
    below = np.nextafter(largest / n_sites, 0)
    if ERRORS[name][0] is None:
        below = float((largest - 1) // n_sites)
    step = 2.0**-form.fraction_bits
    for value in (below, *(() if form.signed is False else (-below,))):
        column = np.array([[value]])
        if not fits(column, form, n_sites):
            rounded = np.rint(value / step) * step
            assert abs(rounded) * n_sites >= largest
            continue
        found = summed(name, [column[0]] * n_sites)[0]
        total = n_sites * Fraction(value)
        assert abs(Fraction(float(found)) - total) <= bound(name, n_sites, total)
    for value in (largest / n_sites, largest, 1e300):
        assert not fits(np.array([[float(np.ceil(value))]]), form, n_sites)


def test_rounding_up_to_the_bound_is_refused():
    """Three times 2048/3, each rounded up, would be 2^31 and turn negative."""
    value = np.array([[2048 / 3]])
    assert summed("updates", [value[0]] * 3)[0] < 0
    assert not fits(value, FORMATS["updates"], 3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_number_is_refused(name, value):
    assert not fits(np.array([[1.0], [value]]), FORMATS[name], 2)


@pytest.mark.parametrize("name", ["counts", "votes"])
def test_parts_of_a_count_are_refused(name):
    assert fits(np.array([[1.0]]), FORMATS[name], 2)
    assert not fits(np.array([[0.5]]), FORMATS[name], 2)


def test_negative_votes_are_refused():
    assert not fits(np.array([[-1.0]]), FORMATS["votes"], 2)


@settings(max_examples=200, deadline=None)
@given(st.floats(min_value=-(2.0**90), max_value=2.0**90), st.floats(-1, 1))
@example(2.0**48, 2.0**-20)
@example(-(2.0**60), -(2.0**-90))
def test_what_cancels_out_leaves_the_rest(large, small):
    """The error is that of the sum, not of the largest summand."""
    found = summed("wide", np.array([[large], [-large], [small]]))[0]
    total = Fraction(small)
    assert abs(Fraction(float(found)) - total) <= bound("wide", 3, total)


@settings(max_examples=100, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
@example(1.401298464324817e-45)
def test_single_precision_features_of_any_scale_fit(value):
    column = np.array([[value]])
    if abs(value) < 2.0**90:
        assert fits(column, FORMATS["wide"], 5)
        assert abs(summed("wide", [column[0]])[0] - value) <= 2.0**-97 + abs(value) * 2.0**-52


@pytest.mark.parametrize("name", FORMATS)
def test_empty_matrices(name):
    form = FORMATS[name]
    for shape in ((0, 3), (2, 0)):
        assert fits(np.zeros(shape), form, 3)
        assert encode(np.zeros(shape), form).shape == (shape[0], shape[1] * form.n_limbs)
    assert decode(encode(np.zeros((2, 0)), form), form).shape == (2, 0)
