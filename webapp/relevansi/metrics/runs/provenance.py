"""Where JSON answers come from: the fields that every report carries, and the flaws in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TypeGuard

from msgspec import Struct

from relevansi.metrics.judging.figures import Numbers

PROVENANCE = (
    *("prompt_sha256", "prompt_version", "index_version", "model_id"),
    *("adapter_id", "registry_model_id", "eval_set_version"),
)
"""The fields of every report that let it be repeated; of ``MODEL_PARTS`` one is enough."""

MODEL_PARTS = ("adapter_id", "registry_model_id")
_HASHES = {
    "prompt_sha256": re.compile("[0-9a-f]{64}", re.IGNORECASE),
    "eval_set_version": re.compile(r"\S.*@[0-9a-f]{40}", re.IGNORECASE),
}


def stated_provenance(fields: Mapping[str, object]) -> dict[str, str]:
    """The fields of ``PROVENANCE`` that `fields` states, in order; blank ones are left out.

    >>> stated_provenance({"model_id": " m ", "index_version": "", "other": "x"})
    {'model_id': 'm'}
    """
    texts = {name: str(fields.get(name) or "").strip() for name in PROVENANCE}
    return {name: text for name, text in texts.items() if text}


def missing_provenance(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that are missing; an adapter or a registry's model is enough.

    >>> missing_provenance({"prompt_sha256": "9f", "model_id": "m", "index_version": "1",
    ...                     "registry_model_id": "r", "eval_set_version": "1"})
    ('prompt_version',)
    """
    missing = tuple(name for name in PROVENANCE if name not in provenance)
    adapter, model = MODEL_PARTS
    return tuple(n for n in missing if n != model and (n != adapter or model in missing))


def no_hashes(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that hold something else than the hash that belongs there.

    ``prompt_sha256`` is 64 hexadecimal digits, ``eval_set_version`` a name, ``@`` and 40.

    >>> no_hashes({"prompt_sha256": "9f", "eval_set_version": f"dev@{'0' * 40}"})
    ('prompt_sha256',)
    """
    return tuple(
        name
        for name, form in _HASHES.items()
        if name in provenance and not form.fullmatch(provenance[name])
    )


HYNDMAN = "Hyndman, R. J., & Fan, Y. (1996). The American Statistician 50(4), 361-365, type 7."
"""Where the percentiles are from."""


class Latency(Struct, frozen=True):
    """Milliseconds over the `n` answers whose duration is known."""

    p50: float
    p95: float
    mean: float
    n: int


def latency(values_stated: Iterable[object]) -> Latency | None:
    """Median, 95th percentile (linear interpolation) and mean of the durations in `values_stated`.

    A value that is not a number from 0 up is not a duration and is left out; without any
    duration ``None`` is returned. One duration is every percentile.

    >>> latency([1000, None, 3000, "slow"])
    Latency(p50=2000.0, p95=2900.0, mean=2000.0, n=2)
    """
    durations = Numbers()
    for value in values_stated:
        if _is_duration(value):
            durations.add(value)
    (p50, p95), mean = durations.at(0.5, 0.95), durations.mean
    if p50 is None or p95 is None or mean is None:
        return None
    return Latency(p50, p95, mean, durations.n)


def _is_duration(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) and value >= 0


EARTH_RADIUS_KM = 6371.0


def haversine_km(
    latitude: float, longitude: float, to_latitude: float, to_longitude: float
) -> float:
    """The distance of two points over the globe in km, with R = 6371 km.

    2 R asin(sqrt(sin²(Δφ/2) + cos φ1 cos φ2 sin²(Δλ/2))).

    >>> round(haversine_km(0, 0, 0, 90), 4)  # a quarter of the way round: 6371 π / 2
    10007.5434
    """
    phi, to_phi = math.radians(latitude), math.radians(to_latitude)
    half = math.sin((to_phi - phi) / 2) ** 2
    around = math.sin(math.radians(to_longitude - longitude) / 2) ** 2
    half += math.cos(phi) * math.cos(to_phi) * around
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half)))
