"""The distance of two places is the haversine of scikit-learn."""

from __future__ import annotations

import math

import pytest

from webapp.metrics.runs.provenance import haversine_km


def test_the_haversine_is_scikit_learn_s() -> None:
    from sklearn.metrics.pairwise import haversine_distances  # type: ignore[import-untyped]

    medan, jakarta = (3.5952, 98.6722), (-6.2088, 106.8456)
    radians = [[math.radians(degrees) for degrees in point] for point in (medan, jakarta)]
    theirs = haversine_distances(radians)[0][1] * 6371

    assert haversine_km(*medan, *jakarta) == pytest.approx(theirs, rel=1e-12)
