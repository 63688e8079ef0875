from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relevansi.exporters.exports.json_results import json_of_queries, result_json
from relevansi.exporters.frame.json_files import JsonValue
from relevansi.kinds.property import Card, CardParticulars
from relevansi.records import BINARY, Relevance

CARD = Card("Rumah A", slug="rumah-a", price=850_000_000, land_area=105.0, building_area=62.5)
NOTHING: dict[str, object] = {
    "description": None,
    "features": [],
    "facts": {},
    "latitude": None,
    "longitude": None,
    "distance_km": None,
}
UNSAID = (
    "url", "price_max", "price_note", "price_period", "location", "bedrooms", "bathrooms",
    "floors", "certificate", "listing_type", "source",
)  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "written"),
    [
        (Relevance.RELEVANT, 1),
        (Relevance.NOT_RELEVANT, 0),
        (Relevance.UNSURE, "unsure"),
        (None, None),
    ],
)
def test_a_result_holds_every_field_of_its_card_null_where_nothing_is_said(
    verdict: Relevance | None, written: int | str | None
) -> None:
    result = result_json(1, CARD, BINARY.number(verdict), CardParticulars())

    assert result == {
        **dict.fromkeys(UNSAID),
        "rank": 1,
        "title": "Rumah A",
        "slug": "rumah-a",
        "price": 850_000_000,
        "land_area": 105,
        "building_area": 62.5,
        "relevance": written,
        "particulars": {
            "headings": [],
            "lines": [],
            **NOTHING,
            "asked_place": None,
            "record": {**NOTHING, "card": {}},
        },
    }
    assert '"land_area": 105,' in json.dumps(result)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\u00e9\n"), inner),
)


@example([0.00001], None)
@given(st.lists(JSON, max_size=3), JSON)
def test_a_document_made_item_by_item_has_the_bytes_of_one_made_whole(
    items: list[JsonValue], value: JsonValue
) -> None:
    head: dict[str, JsonValue] = {"run": "a", "value": value}
    expected = json.dumps({**head, "queries": items}, ensure_ascii=False, indent=1)

    assert json_of_queries(head, items) == expected.encode()
