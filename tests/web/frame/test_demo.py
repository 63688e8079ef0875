"""The demo is a finished study in which every page has something to read, the same every time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.demo import made, study_of
from tests.services.proof_packs.packs import verified
from tests.web.conftest import in_english
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.tables.evaluations import Evaluation, ItemJudgment
from webapp.db.tables.gold import CardDecision
from webapp.db.tables.machine_judges import MachineCall
from webapp.metrics.comparisons.resampling import Resampling
from webapp.services.evaluations.rows import EvaluationKind
from webapp.services.machine_judges import beside_people, judges
from webapp.services.phase_3 import participants, questionnaires
from webapp.services.phase_3.asking import rater
from webapp.services.proof_packs import packs
from webapp.services.runs import reports
from webapp.web.frame.rooms import menu

EMPTY = re.compile(r"[^.:]*\b(?:yet|needs two|No item waits|Nothing of)\b[^.:]*")
FURTHER = ("/gold/", "/items/", "/study/participants/", "/agreement?of=cards")
"""Pages behind those of the menus."""


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path) -> Iterator[Flask]:
    app = create_app(Settings(sqlite_url(demo_file), demo_file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_the_demo_is_the_same_every_time(demo_file: Path, tmp_path: Path) -> None:
    again = made(tmp_path)

    assert _rows(again) == _rows(demo_file)


def test_the_wings_have_their_part(demo_session: Session) -> None:
    study = study_of(demo_session)
    kinds = demo_session.scalars(select(Evaluation.kind)).all()
    (judge,) = judges.lines(demo_session, study)
    beside = beside_people.report(demo_session, study, judges.find(demo_session, study, judge.id))

    assert (demo_session.scalar(select(func.count()).select_from(CardDecision)) or 0) > 100
    assert sorted(kinds) == sorted(EvaluationKind)
    assert demo_session.scalar(select(func.count(ItemJudgment.rater_id.distinct()))) == 2
    assert demo_session.scalar(select(func.count()).select_from(MachineCall)) == judge.judged == 40
    assert judge.released_at is not None
    assert beside.may_release
    assert 0.3 < (beside.agreement.cohen.value or 0) < 1


def test_eight_participants_asked_rated_and_answered_the_questionnaire(
    demo_session: Session,
) -> None:
    everybody = participants.everybody(demo_session, study_of(demo_session))
    answers = [questionnaires.of_rater(demo_session, rater(person)) for person in everybody]

    assert len(everybody) == 8
    assert all(person.finished_at for person in everybody)
    assert all(not answer.unanswered for answer in answers)
    assert sum(bool(answer.missing) for answer in answers) == 5


def test_the_proof_pack_of_the_demo_verifies(demo_session: Session) -> None:
    study = study_of(demo_session)
    rule = reports.rule_of(demo_session, study)
    data = packs.of_study(demo_session, study, rule, settings=Resampling(resamples=50)).data

    assert verified(data).equal


def test_no_page_of_the_menus_is_empty_and_each_says_that_it_is_the_demo(
    demo: Flask, app: Flask
) -> None:
    client, fresh = in_english(demo), in_english(app)
    with app.test_request_context():
        urls = app.url_map.bind("")
        paths = [urls.build(entry.endpoint) for name in ("owner", "study") for entry in menu(name)]
    n_empty = 0

    for path in (*paths, *FURTHER):
        page, empty = client.get(path), fresh.get(path)
        unfilled = _sentences(empty)
        n_empty += bool(unfilled)
        assert page.status_code == 200, path
        assert not unfilled & _sentences(page), path
        assert "This is the demo" in page.text, path
        assert "This is the demo" not in empty.text, path
    assert n_empty >= 8


def _rows(file: Path) -> list[str]:
    with sqlite3.connect(file) as connection:
        return list(connection.iterdump())


def _sentences(page: object) -> set[str]:
    """Return the sentences of a page, outside its forms, that say that something is missing."""
    main = re.search("<main.*?</main>", page.text, re.DOTALL)  # type: ignore[attr-defined]
    assert main is not None
    bare = re.sub("<form.*?</form>", "", main[0], flags=re.DOTALL)
    text = " ".join(unescape(re.sub("<[^>]+>", " ", bare)).split())
    return {found.strip() for found in EMPTY.findall(text)}
