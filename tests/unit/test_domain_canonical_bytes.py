"""The fast way of writing canonical JSON gives the bytes of the careful one, whatever the value."""

import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domain.canonical import canonical
from pipeline.errors import InvalidRequest

NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner) | st.tuples(inner),
)


@given(VALUES)
def test_every_value_is_written_as_rfc_8785_says(value):
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [0.0, -0.0, 12.0, 12.5, 1e-4, 9e-5, 1e15, 1e16, 1e21, 1e22, 5e-324, 2**53 - 1])
def test_numbers_at_the_edges_are_written_as_rfc_8785_says(value):
    assert canonical({"start": value}) == rfc8785.dumps({"start": value})


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53 + 1, "\ud800"])
def test_what_json_cannot_hold_is_refused_as_before(value):
    with pytest.raises(InvalidRequest):
        canonical([value])
