"""Labels of files in words: search methods and the categories of the method's questions.

Files, addresses and JSON keep the raw label; an unknown one is shown as it is. LLMs are shown
as their owner writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webapp.i18n import gettext, mark

METHODS: Mapping[str, str] = MappingProxyType(
    {"api_only": "API Only", "vector_only": "Vector Only", "hybrid": "Hybrid"}
)
"""The search methods of the original evaluation, in its order: names, the same everywhere."""

CATEGORIES: Mapping[str, str] = MappingProxyType(
    {
        "location_simple": mark("Location"),
        "location_price": mark("Location and price"),
        "location_price_spec": mark("Location, price, specification"),
        "location_intent": mark("Location with a purpose"),
        "property_type": mark("Property type"),
        "context_followup": mark("Follow-up"),
        "context_modify": mark("Changed criteria"),
        "feature_search": mark("Facilities"),
        "nearby_search": mark("Near a place"),
        "nearby_price": mark("Near a place, with price"),
        "complex_query": mark("Several criteria"),
        "project_search": mark("Project or estate"),
    }
)


def method(label: str | None) -> str:
    """Return a search method in words; empty where none is stated.

    >>> method("api_only"), method("Hybrid (60/40)"), method(None)
    ('API Only', 'Hybrid (60/40)', '')
    """
    return METHODS.get(label, label) if label else ""


def category(label: str) -> str:
    """Return a category in words, in the language in force.

    >>> category("location_simple"), category("my own")
    ('Lokasi', 'my own')
    """
    return gettext(CATEGORIES[label]) if label in CATEGORIES else label
