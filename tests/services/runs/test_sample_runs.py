"""The invented sample: rated as its files say, known by them, and removed with its verdicts."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.config import resource
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating, StoredItem
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.runs import Query, Run
from relevansi.importers.runs import json_runs
from relevansi.records import EmptyOutcome, QueryState, ReadRun
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.runs import runs, sample_runs, stored_runs
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import studies
from seeds.making.studies import load
from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, card, click, count

SEEDS = resource("seeds")
LATER = NOW + timedelta(days=1)


def own_run() -> ReadRun:
    """A run over the sample's questions: question 1 has a card of the sample and one of its own."""
    file = SEEDS / "runs" / "hybrid" / "test_results.json"
    read = json_runs.read(file.name, file.read_bytes())
    first, *others = read.queries
    mine = replace(first, cards=(first.cards[0], card("mine")))
    empty = [replace(one, cards=(), state=QueryState.EMPTY) for one in others]
    return replace(read, sha256="f" * 64, search_method="mine", queries=(mine, *empty))


def verdicts(session: Session) -> dict[str | None, str | None]:
    """Return every verdict by the property it is on, ``None`` for an empty list."""
    rows = session.execute(
        select(StoredItem.identity, Judgment.verdict)
        .select_from(Judgment)
        .join(JudgedItem)
        .outerjoin(StoredItem)
        .where(Judgment.verdict.is_not(None))
    )
    return {identity: verdict for identity, verdict in rows}  # noqa: C416 (rows are not pairs)


def test_the_run_files_of_the_sample_are_known() -> None:
    files = [*(SEEDS / "runs").glob("*/*.json"), *(SEEDS / "demo" / "runs").glob("*.json")]

    assert {sha256(file.read_bytes()).hexdigest() for file in files} == sample_runs.FILES


def test_the_sample_goes_with_its_verdicts_and_leaves_those_on_other_runs(session: Session) -> None:
    """Of the owner's clicks those on the own run stay, the invented one before them does not."""
    study = load(session, SEEDS, NOW)
    ratings = json.loads((SEEDS / "ratings.json").read_text("utf-8"))["ratings"]
    fields = ("quality", "notes", "empty_outcome")
    assert count(session, Event) == sum(
        len(rating.get("results", {}))
        + sum(rating.get(field) not in {None, ""} for field in fields)
        for rating in ratings
    )
    owner = studies.raters(session, study)[0]
    by_method = {run.search_method: run.id for run in sample_runs.find(session, study)}
    mine = stored_runs.store(session, study, own_run(), Labels(), LATER).id
    assert list(by_method) == ["api_only", "vector_only", "hybrid"]
    # An invented verdict on a list that is empty in the own run, too.
    outcomes = [outcome.value for outcome in EmptyOutcome]
    assert session.scalars(select(Judgment).where(Judgment.verdict.in_(outcomes))).first()
    judgments.judge(session, owner, mine, 1, 1, NO, click("on a shared card"))
    judgments.judge(session, owner, mine, 1, 2, YES, click("on an own card"))
    judgments.judge(session, owner, by_method["hybrid"], 2, 1, YES, click("on a sample card"))
    asked = AnswerRating(quality=2)
    judgments.rate(session, owner, mine, 1, asked, click("an own grade"))

    sample_runs.remove(session, study, LATER)

    assert [run.id for run in session.scalars(select(Run))] == [mine]
    first = own_run().queries[0].cards[0].slug
    assert verdicts(session) == {f"slug:{first}": NO, "slug:mine": YES}
    ids = set(session.scalars(select(Event.event_id)))
    assert ids == {"on a shared card", "on an own card", "an own grade"}
    assert session.scalars(select(QueryRating.quality)).all() == [2]
    page = runs.run_page(session, owner, mine)
    assert page.overview.progress.totals.n_judged == 2
    assert count(session, Query) == 30


@pytest.mark.parametrize(("since", "stays"), [(NOW, None), (LATER, False)])
def test_blind_rating_is_automatic_again_only_where_the_sample_switched_it_off(
    session: Session, since: object, stays: bool | None
) -> None:
    study = load(session, SEEDS, NOW)
    if since is LATER:
        for blind in (None, False):
            switched = replace(studies.switches(study), blind=blind)
            studies.set_switches(session, study, switched, LATER)

    cost = sample_runs.removal_cost(session, study, sample_runs.find(session, study))
    assert cost[2] is (stays is None)
    sample_runs.remove(session, study, LATER)

    assert study.blind is stays
    logged = session.scalars(select(LogEntry.action).where(LogEntry.at == LATER)).all()
    assert logged.count("delete run") == 3
    assert "remove sample" in logged
