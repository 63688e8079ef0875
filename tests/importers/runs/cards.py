"""Property cards made by Hypothesis, other ways to write them, and answers of one card."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from relevansi.importers.runs.property_cards import parse
from relevansi.kinds.property import Card

NOTHING = ["-", "–", "—", "n/a", "N/A", "null", "none", "nil", "Tidak ada", "kosong", "?"]
"""Texts that say nothing."""


def only(response: str) -> Card:
    """The one card in `response`."""
    (card,) = parse(response)
    return card


def detail(line: str) -> Card:
    """The one card whose only detail line is `line`."""
    return only(f"1. **Rumah**\n{line}")


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


_HABITS = (
    (r"(?m)^(   💰 Rp \d{1,3})\.000\.000(?![.\d]| -)", r"\1 jt"),
    (r"(?m)^(   💰 Rp \d{1,3})\.(\d)00\.000\.000(?![.\d]| -)", r"\1,\2 M"),
    (r"(?m)^   💰 Rp [\d.]+( - .*)?", lambda price: price[0].replace(".", ",")),
    (r"(?m)^(   💰 .*)\(sale\)$", r"\1(jual)"),
    (r"(?m)^(   💰 .*)\(rent\)$", r"\1(sewa)"),
    (r"(?m)^(   🏠.* )Kamar Tidur", r"\1KT"),
    (r"(?m)^(   🏠.* )Kamar Mandi", r"\1KM"),
    (r"(?m)^   ([🔄🏷📍💰🏠📜])", "   \\1\ufe0f"),
    (r"(?m)^(\d+\. \*\*)\[(.*)\]\((\S+)\)\*\*$", r"\1\2**\n   🔗 [Lihat Detail](\3)"),
    (r"(?m)^(\d+\. )\*\*\[(.*)\*\*$", r"\1[\2"),
    (r"(?m)^(\d+)\. ", r"\1) "),
    (r"(?m)^(3. .*)$", r"### Bagian\n\1"),
    (r"(?m)^   ", ""),
    (r"(?m)^   ", "\t- "),
    (r"(?m)^   ", "* "),
)
"""What of a list one chatbot writes otherwise, as patterns with what is there instead."""


@st.composite
def styles(draw: st.DrawFn) -> Callable[[str], str]:
    """Every way of writing cards that leaves none of them out."""
    chosen = draw(st.sets(st.sampled_from(range(len(_HABITS)))))

    def styled(text: str) -> str:
        for place in sorted(chosen):
            text = re.sub(*_HABITS[place], text)  # type: ignore[call-overload]
        return text

    return styled
