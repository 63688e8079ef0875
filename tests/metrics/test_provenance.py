"""Fields say where answers come from; what is missing or no hash is named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.evaluations.json_answers import PROVENANCE, missing_provenance, no_hashes
from relevansi.metrics.gold.constraint_rules import haversine_km
from relevansi.metrics.numbers import Latency, latency

ALL = dict.fromkeys(PROVENANCE, "x")


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ((), ()),
        (("adapter_id",), ()),
        (("registry_model_id",), ()),
        (("adapter_id", "registry_model_id"), ("adapter_id",)),  # one of both is enough
        (("index_version", "adapter_id"), ("index_version",)),
    ],
)
def test_a_missing_field_is_named_and_of_the_parts_of_a_model_one_is_enough(
    left_out: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    provenance = {name: text for name, text in ALL.items() if name not in left_out}

    assert missing_provenance(provenance) == missing


@pytest.mark.parametrize(
    ("name", "text", "is_hash"),
    [
        ("prompt_sha256", "0" * 64, True),
        ("prompt_sha256", "AB" * 32, True),
        ("prompt_sha256", "0" * 63, False),
        ("prompt_sha256", "g" * 64, False),
        ("eval_set_version", "dev@" + "a" * 40, True),
        ("eval_set_version", "@" + "a" * 40, False),
        ("eval_set_version", "dev@" + "a" * 41, False),
        ("model_id", "anything", True),
    ],
)
def test_a_field_that_should_hold_a_hash_is_named_where_it_does_not(
    name: str, text: str, is_hash: bool
) -> None:
    assert no_hashes({name: text}) == (() if is_hash else (name,))


def test_the_haversine_is_scikit_learn_s() -> None:
    from sklearn.metrics.pairwise import haversine_distances  # type: ignore[import-untyped]

    medan, jakarta = (3.5952, 98.6722), (-6.2088, 106.8456)
    radians = [[math.radians(degrees) for degrees in point] for point in (medan, jakarta)]
    theirs = haversine_distances(radians)[0][1] * 6371

    assert haversine_km(*medan, *jakarta) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("odd", [None, "3", True, -1, math.nan, math.inf, [], {}])
def test_what_is_no_duration_is_left_out(odd: object) -> None:
    assert latency([odd]) is None
    assert latency([odd, 5]) == Latency(5, 5, 5, 1)


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=40))
def test_the_percentiles_are_numpys(values: list[int]) -> None:
    result = latency(values)

    assert result is not None
    assert result.p50 == pytest.approx(np.percentile(values, 50))
    assert result.p95 == pytest.approx(np.percentile(values, 95))
    assert result.mean == pytest.approx(np.mean(values))
