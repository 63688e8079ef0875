"""A key that an object has twice is read only where its values are equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi import json_text
from relevansi.json_text import RepeatedKey

KEYS = st.sampled_from(["a", "b", 'a"', 'a":', "a\\", ""])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", 'x": 1', '"', "\\"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(value=VALUES, blank=st.sampled_from(["", " ", "\n"]))
def test_every_value_without_a_repeated_key_is_read(value: object, blank: str) -> None:
    assert json_text.decode(json.dumps(value, separators=(f"{blank},", f"{blank}:"))) == value


@given(
    before=VALUES, values=st.tuples(SCALARS, SCALARS), key=KEYS, blank=st.sampled_from(["", " "])
)
def test_every_repeated_key_is_refused_unless_its_values_are_equal(
    before: object, values: tuple[object, object], key: str, blank: str
) -> None:
    name = json.dumps(key)
    first, second = map(json.dumps, values)
    text = f"[{json.dumps(before)},\n{{{name}{blank}: {first},\n{name}: {second}}}]"

    if first == second:
        assert json_text.decode(text)[1] == {key: values[0]}
    else:
        with pytest.raises(RepeatedKey) as refused:
            json_text.decode(text)
        assert (refused.value.key, refused.value.line) == (key, 3)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 40])
def test_a_number_that_is_none_is_null(number: str) -> None:
    assert json_text.decode(f'{{"a": {number}}}') == {"a": None}


def test_what_is_nested_too_deep_is_not_read() -> None:
    depth = json_text.MAX_DEPTH + 1

    json_text.decode("[" * depth + "]" * depth)
    with pytest.raises(RecursionError):
        json_text.decode("[" * (depth + 1) + "]" * (depth + 1))
