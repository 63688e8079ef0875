"""The meaning of every figure of the constraints: ``meanings.toml`` beside this file."""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import read_groups

CONSTRAINT_LABELS = {
    "property_type": mark("Property type"),
    "listing_type": mark("Sale or rent"),
    "location": mark("Location"),
    "price": mark("Price"),
    "bedrooms": mark("Bedrooms"),
    "floors": mark("Floors"),
}
"""The label of each constraint, as a message id."""

GROUPS = tuple(read_groups(__file__).values())
CONSTRAINT_MEASURES, CONSTRAINT_ADVICE = GROUPS[0].measures, GROUPS[0].advice
