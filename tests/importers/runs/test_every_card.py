"""For all cards and texts, reading undoes writing, and nothing raises."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from tests.importers.runs.random_cards import cards, styles
from webapp.importers.runs.property_cards import Style, parse, render
from webapp.records import Card

_PIECES = st.sampled_from(
    (
        *("1. ", "**", "[", "](", "https://x.id/properti/a", ")", "\n", "   ", "- ", "###", "\\"),
        *("📍 ", "💰 Rp ", "1,5", " M", " jt", "🏠", "\ufe0f", " KT", "LT ", "m²"),
        *("\x00", "\ud800", "\u202e", "\r"),
    )
)


@given(st.lists(cards(), max_size=6), styles())
def test_reading_what_was_written_gives_the_same_cards(some: list[Card], style: Style) -> None:
    assert parse(render(some, style)) == tuple(some)


@given(st.lists(cards(), max_size=4), styles())
def test_windows_line_ends_and_words_around_change_nothing(some: list[Card], style: Style) -> None:
    answer = f"Saat ini tidak ada yang cocok, tetapi:\n\n{render(some, style)}\nAda lagi?"

    assert parse(answer.replace("\n", "\r\n")) == tuple(some)


@given(cards().filter(lambda card: card.url and card.title.isascii()), styles())
def test_a_linked_title_needs_no_bold(card: Card, style: Style) -> None:
    linked = replace(style, bold=False, linked_titles=True)

    assert parse(render([card], linked)) == (card,)


@given(st.text() | st.text(st.characters(codec=None)) | st.lists(_PIECES, max_size=60).map("".join))
def test_any_text_is_read_without_error(text: str) -> None:
    for card in parse(text):
        assert card.title
        assert card.price is None or 0 < card.price <= 10**15
        assert "" not in astuple(card)


@given(st.lists(cards(), min_size=1, max_size=4), st.lists(_PIECES, max_size=30).map("".join))
def test_a_heading_shields_the_cards_before_it(some: list[Card], noise: str) -> None:
    answer = f"{render(some)}\n### Lainnya\n{noise}"

    assert parse(answer)[: len(some)] == tuple(some)
