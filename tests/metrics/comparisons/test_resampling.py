"""Draws: as many units as there are, the same for a seed, however they are cut into chunks."""

from __future__ import annotations

import random
from collections import Counter
from math import nan

import numpy as np
import pytest

from webapp.metrics.comparisons import significance
from webapp.metrics.comparisons.significance import Bootstrap, Interval, Resampling


@pytest.mark.parametrize("at_once", [30, 250])
def test_many_units_are_drawn_as_the_library_draws_them(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, population = random.Random(20260301), 40 * "a" + 7 * "b" + 53 * "c"
    drawn = [Counter(draw.choices(population, k=100)) for _ in range(150)]

    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", at_once)
    times = significance.resample([40, 7, 53], Bootstrap(resamples=150))

    assert times.tolist() == [[one[kind] for kind in "abc"] for one in drawn]
    assert significance.resample([1], Bootstrap()).shape == (0, 1)  # under two units


def test_each_resample_draws_as_many_places_as_there_are() -> None:
    (rows,) = significance.times_drawn(5, Resampling(resamples=200))
    words = np.random.PCG64(20260301).random_raw(3)
    halves = [half for word in words.tolist() for half in (word & 0xFFFFFFFF, word >> 32)]

    assert rows.shape == (200, 5)
    assert set(rows.sum(axis=1)) == {5}
    places = Counter(half * 5 >> 32 for half in halves[:5])  # 32 bits give one of 5 places
    assert rows[0].tolist() == [places[place] for place in range(5)]


def test_signs_are_all_tried_where_they_are_few_and_drawn_where_they_are_many() -> None:
    (every,) = significance.signs(3, Resampling(resamples=8))
    (drawn,) = significance.signs(3, Resampling(resamples=7))
    bits = int(np.random.PCG64(20260301).random_raw(1)[0])
    first = bits.to_bytes(8, "little")[0]

    assert len({tuple(row) for row in every.tolist()}) == 8
    assert drawn.shape == (7, 3)
    assert drawn[0].tolist() == [1 - 2 * (first >> place & 1) for place in (7, 6, 5)]


@pytest.mark.parametrize("draw", [significance.times_drawn, significance.signs])
def test_chunks_draw_what_one_piece_draws(draw: object, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Resampling(resamples=300)
    whole = np.concatenate(list(draw(20, settings)))  # type: ignore[operator]
    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", 64 * 20)
    pieces = list(draw(20, settings))  # type: ignore[operator]

    assert len(pieces) == 5  # 4 x 64 and 44 rows
    assert np.array_equal(np.concatenate(pieces), whole)


def test_items_of_one_unit_are_counted_together() -> None:
    unit_of = np.array([0, 1, 1, 2])
    times = significance.item_times(unit_of, 3, Bootstrap(resamples=50, seed=3))
    first = np.random.default_rng(3).integers(0, 4, (50, 4))[0]

    assert times.shape == (50, 3)
    assert set(times.sum(axis=1)) == {4}
    assert times[0].tolist() == [(unit_of[first] == unit).sum() for unit in range(3)]


def test_resamples_without_an_estimate_are_left_out_and_counted() -> None:
    found = significance.percentiles(np.array([nan, 3.0, 1.0, 2.0, nan]), Bootstrap(confidence=0.5))

    # Of 1, 2, 3 a quarter lies at position 0.5 and three quarters at 1.5.
    assert found == Interval(1.5, 2.5, left_out=2)
    assert significance.percentiles(np.array([nan] * 3), Bootstrap()) == Interval(None, None, 3)
