"""The parts of wings on the rating pages: those that have something to show, in their order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from webapp import rooms
from webapp.web.frame.rooms import ShownPart
from webapp.web.rating import parts
from webapp.web.rating.parts import CardParts

WITH_CARDS = CardParts(styles=("a.css",), scripts=(), under={1: ShownPart("a.html", None)})
PAGE: Any = None


@pytest.fixture(name="asked")
def _asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Two wings, of which one has nothing on this page; the names that were asked for."""
    asked: list[tuple[str, str]] = []
    wings = [
        SimpleNamespace(
            on_answer=lambda _page, found=found: found,
            on_task=lambda _session, _rater, _page, found=found: found,
            offered=lambda _session, _rater, name=name: ShownPart(name, None),
        )
        for name, found in (("first.html", None), ("second.html", WITH_CARDS))
    ]

    def contributions(layer: str, name: str) -> list[SimpleNamespace]:
        asked.append((layer, name))
        return wings

    monkeypatch.setattr(rooms, "contributions", contributions)
    return asked


def test_a_wing_with_nothing_to_show_is_left_out(asked: list[tuple[str, str]]) -> None:
    assert list(parts.on_answer(PAGE)) == [WITH_CARDS]
    assert list(parts.on_task(PAGE, PAGE, PAGE)) == [WITH_CARDS]
    assert asked == [("web", "card_parts")] * 2


def test_work_beside_the_questions_comes_from_every_wing(asked: list[tuple[str, str]]) -> None:
    offered = parts.further_work(PAGE, PAGE)

    assert [part.template for part in offered] == ["first.html", "second.html"]
    assert asked == [("web", "further_work")]
