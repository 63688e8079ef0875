"""Two runs that share a card, which a machine judges, and what it was asked and said."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.judging import Judgment
from webapp.db.tables.machine_judges import MachineCall, MachineJudge
from webapp.db.tables.study import Study
from webapp.records import QueryState
from webapp.services.runs import runs

METHOD = "secret_hybrid_method"


LLM = "secret-llm-4o"


SHARED = card("a", price=1_670_000_000, bedrooms=3, location="Medan Johor")


FIRST = (
    query(1, SHARED, card("b"), text="Rumah di Johor?"),
    query(2, card("c"), card("d"), card("c"), text="Ada pilihan lain?", context_dependent=True),
    query(3, text="Kastil?"),
)


SECOND = (
    query(1, SHARED, card("e"), text="Rumah di Johor?"),
    query(2, card("c"), text="Ada pilihan lain?", context_dependent=True),
    query(3, text="Kastil?", state=QueryState.FAILED),
)


CARDS = 6
"""a (shared), b, e of question 1; c, d of the first run and c of the second of question 2."""


def two_runs(session: Session, study: Study) -> tuple[str, str]:
    set_study(session, study, guidelines="Relevan bila lokasinya cocok.")
    first, second = (
        stored(session, study, method, *queries)
        for method, queries in ((METHOD, FIRST), (f"{METHOD}_2", SECOND))
    )
    for run_id in (first, second):
        runs.relabel(session, study, run_id, METHOD, LLM, NOW)
    return first, second


def said(session: Session, judge: MachineJudge) -> dict[int, str | None]:
    rows = session.scalars(select(Judgment).where(Judgment.rater_id == judge.rater_id))
    return {row.judged_thing_id: row.verdict for row in rows}


def calls(session: Session, judge: MachineJudge) -> list[MachineCall]:
    wanted = select(MachineCall).where(MachineCall.rater_id == judge.rater_id)
    return list(session.scalars(wanted.order_by(MachineCall.judged_thing_id)))
