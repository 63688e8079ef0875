"""Strategies for property cards that markdown can carry, and for ways to write them."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

from webapp.importers.runs.property_cards import Style
from webapp.records import Card

_WORD = st.text(string.ascii_letters + string.digits + "éñ²½.,'&/+#*_`\\!", min_size=1, max_size=8)
_SLUG = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=30)
_PRICES = st.one_of(
    st.integers(1, 10**12),
    st.integers(1, 99_999),
    st.integers(1, 5000).map(lambda n: n * 10**6),
    st.integers(1, 500).map(lambda n: n * 10**8),
)


@st.composite
def titles(draw: st.DrawFn) -> str:
    """Titles with markdown's own characters, brackets balanced and not, parentheses."""
    words = draw(st.lists(_WORD, min_size=1, max_size=4))
    wrapped = draw(st.sampled_from(["{}", "[{}]", "({})", "[{}", "{}]", "x](y {}", "[a [{}] b]"]))
    position = draw(st.integers(0, len(words) - 1))
    words[position] = wrapped.replace("{}", words[position])
    return "Rumah " + " ".join(words)


@st.composite
def urls(draw: st.DrawFn) -> tuple[str, str, str]:
    """An address with the slug and the source it stands for; parentheses are balanced."""
    folder, source = draw(st.sampled_from([("properti", "listing"), ("proyek", "project")]))
    slug = draw(_SLUG) + draw(st.sampled_from(["", "(2)", "_(a)_b"]))
    start = draw(st.sampled_from(["https://rumah.example/", "http://r.example/id/", "/"]))
    end = draw(st.sampled_from(["", "?utm=1", "#foto", "/"]))
    return f"{start}{folder}/{slug}{end}", slug, source


@st.composite
def prices(draw: st.DrawFn) -> dict[str, Any]:
    """Price fields that go together, with the listing type their note implies."""
    low = draw(st.none() | _PRICES)
    highs = st.integers(low or 0, 10**13) | _PRICES
    high = draw(st.none() | highs.filter(lambda high: high > low)) if low else None
    note = draw(st.sampled_from([None, "sale", "rent"]))
    period = draw(st.sampled_from([None, "year", "month"])) if note == "rent" else None
    listing_type = note or draw(st.sampled_from([None, "sale", "rent"]))
    return {
        "price": low,
        "price_max": high,
        "price_note": note,
        "price_period": period,
        "listing_type": listing_type,
    }


@st.composite
def cards(draw: st.DrawFn) -> Card:
    """Cards whose every field but listing id and image is in their markdown."""
    url, slug, source = draw(st.none() | urls()) or (None, None, None)
    rooms = st.none() | st.integers(0, 99)
    areas = st.none() | st.integers(1, 10**8).map(lambda n: n / 4)
    return Card(
        title=draw(titles()),
        url=url,
        slug=slug,
        location=draw(
            st.none()
            | st.from_regex(
                r"Jl\. [A-Z][a-z]{2,9}( No\.[0-9]{1,3})?, Kec\. Medan [A-Z][a-z]{3,8}",
                fullmatch=True,
            )
        ),
        bedrooms=draw(rooms),
        bathrooms=draw(rooms),
        land_area=draw(areas),
        building_area=draw(areas),
        floors=draw(st.none() | st.integers(1, 60)),
        certificate=draw(st.sampled_from([None, "SHM", "HGB", "SHM - Sertifikat Hak Milik"])),
        source=source or draw(st.sampled_from([None, "listing", "project"])),
        **draw(prices()),
    )


def styles() -> st.SearchStrategy[Style]:
    """Every way of writing cards that leaves none of them out (bold keeps bare titles)."""
    return st.builds(
        Style,
        bold=st.just(True),
        linked_titles=st.booleans(),
        number_mark=st.sampled_from([".", ")"]),
        bullet=st.sampled_from(["", "- ", "* "]),
        indent=st.sampled_from(["", "   ", "\t"]),
        thousands=st.sampled_from([".", ","]),
        short_prices=st.booleans(),
        indonesian_notes=st.booleans(),
        short_rooms=st.booleans(),
        selectors=st.booleans(),
        section_size=st.none() | st.integers(1, 4),
    )
