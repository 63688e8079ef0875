"""What people and systems wrote is text on every page of both demos, whatever they wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from relevansi.app import create_app
from relevansi.cli.frame.demo import prepared_demo
from relevansi.db.engine import Database
from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.evaluations import Evaluation, GoldVersion
from relevansi.db.tables.judging import Adjudication, QueryRating
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge
from relevansi.db.tables.people import LogEntry, Rater, Token
from relevansi.db.tables.phase_3 import CommentTheme, Participant, QuestionnaireAnswer
from relevansi.db.tables.runs import Query, Run, RunFile
from relevansi.db.tables.study import Question, Study
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests.services.runs.runs import click
from tests.web.conftest import in_english
from tests.web.reached import opened

TAG = "<i-x>"
WRITTEN = (
    *(Study.name, Rater.name, Token.name, LogEntry.subject, Participant.pseudonym),
    *(Question.text, Question.category, Question.note, Run.search_method, Run.llm, RunFile.name),
    *(Query.response, Query.error, QueryRating.notes, Adjudication.reason, Search.words),
    *(GoldVersion.name, Evaluation.name, MachineJudge.model, MachineCall.reason),
    *(QuestionnaireAnswer.text, CommentTheme.theme),
)
"""Columns of what people, chatbots and tools wrote."""


@pytest.mark.thorough
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("documents", [False, True])
def test_no_text_is_markup_on_any_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: bool, is_open: bool
) -> None:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    app = create_app(prepared_demo(documents=documents))
    database: Database = app.extensions["database"]
    with database.writing() as session:
        for column in WRITTEN:
            session.execute(
                update(column.class_).where(column != "").values({column: column + TAG})
            )
        if is_open:
            _take_back_verdicts(session)
        session.commit()

    pages = {address: page for _, address, page in opened(in_english(app), "/") if page}
    database.close()

    assert len(pages) > 40
    assert [address for address, page in pages.items() if TAG in page.source] == []


def _take_back_verdicts(session: Session) -> None:
    """Leave the last rater something to judge in each run that the others have judged."""
    study = studies.current(session)
    assert study is not None
    rater = studies.raters(session, study)[-1]
    for run in session.scalars(select(Run).where(Run.study_id == study.id)):
        for query in run.queries:
            if query.results:
                event = click(f"{run.id} {query.query_id}")
                judgments.judge(session, rater, run.id, query.query_id, 1, None, event)
