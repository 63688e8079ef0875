"""Properties as the answers of several systems list them."""

from __future__ import annotations

import pytest

from relevansi.kinds.property import Card

STREET = "Jl. Gereja No.1, Komp. Deli, Kel. Silalas, Kec. Medan Barat"


@pytest.mark.parametrize(
    ("places", "locations"),
    [
        # All have a street or a complex: what is coarser helps nobody to tell them apart.
        (
            [STREET, "Setiabudi, Komp. Tasbi 1, Kel. Tanjung Rejo"],
            ["Jl. Gereja No.1, Komp. Deli", "Setiabudi, Komp. Tasbi 1"],
        ),
        # One method states no street, so no list shows one.
        (
            [STREET, "Kel. Sunggal, Kec. Medan Sunggal"],
            ["Silalas, Medan Barat", "Sunggal, Medan Sunggal"],
        ),
        # Another states only the district, without the word for it, or with its city.
        ([STREET, "Percut Sei Tuan"], ["Medan Barat", "Percut Sei Tuan"]),
        ([STREET, "Medan Johor, Kota Medan"], ["Medan Barat", "Medan Johor"]),
        # And one states no place at all.
        ([STREET, None], [None, None]),
        ([], []),
    ],
)
def test_no_list_of_an_answer_states_more_of_a_place_than_the_others(
    places: list[str | None], locations: list[str | None]
) -> None:
    alike = Card.alike([Card(title="Rumah", location=place) for place in places])

    assert [card.location for card in alike] == locations
    assert all(card.title == "Rumah" for card in alike)
