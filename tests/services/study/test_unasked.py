"""A study asks all its questions unless a wing leaves some out."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from sqlalchemy.orm import Session

from webapp import rooms
from webapp.db.tables.study import Study
from webapp.services.study.unasked import unasked


def test_without_a_sample_every_question_is_asked(session: Session, study: Study) -> None:
    assert unasked(session, study.id) == frozenset()


def test_what_any_wing_leaves_out_is_not_asked(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wings(layer: str, name: str) -> Iterator[SimpleNamespace]:
        assert (layer, name) == ("services", "left_out")
        for found in ((1, 2), (), (2, 3)):
            yield SimpleNamespace(left_out=lambda _session, _study, found=found: found)

    monkeypatch.setattr(rooms, "contributions", wings)
    assert unasked(session, study.id) == frozenset({1, 2, 3})
