"""Why items are not relevant, in exports: a rater's own, and those behind a merged label."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result
from relevansi.db.tables.study import Study
from relevansi.services.agreement import adjudications
from relevansi.services.exports import exports
from relevansi.services.judging import judgments
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, card, click, query, run, store

GIVEN = {
    "owner": ((NO, "price"), (NO, "location"), (YES, "price")),
    "Ani": ((NO, "location"), (NO, None), (NO, "gone")),
    "Budi": ((NO, "location"), (YES, "other: lain"), (YES, None)),
}
"""The verdicts on three cards of three raters, each with the reason beside it."""


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, rater: Rater) -> str:
    read = run(query(1, card("a"), card("b"), card("c")), query(2))
    run_id = store(session, study, read).id
    people = [rater, *(studies.add_rater(session, study, name, NOW) for name in ("Ani", "Budi"))]
    for who, verdicts in zip(people, GIVEN.values(), strict=True):
        for rank, (verdict, reason) in enumerate(verdicts, start=1):
            judgments.judge(session, who, run_id, 1, rank, verdict, click(f"v{rank}"))
            judgments.give_reason(session, who, run_id, 1, rank, reason, click(f"r{rank}"))
    return run_id


def column(session: Session, study: Study, run_id: str, rule: Rule) -> list[str]:
    data = exports.export(session, study, run_id, rule, "long-csv").data.decode("utf-8-sig")
    return [row["reason"] for row in csv.DictReader(io.StringIO(data)) if row["rank"]]


def test_a_rater_s_file_has_the_reasons_that_count(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    """A reason beside "relevant" counts no more; the qrels have none."""
    rule = reports.of_rater(rater)
    assert column(session, study, run_id, rule) == ["price", "location", ""]
    document = json.loads(exports.export(session, study, run_id, rule, "json").data)
    results = document["queries"][0]["results"]
    assert [result.get("reason") for result in results] == ["price", "location", None]
    qrels = exports.export(session, study, run_id, rule, "qrels").data
    assert b"price" not in qrels


def test_a_merged_label_has_the_reasons_of_those_who_gave_it(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    """The most frequent first; whoever settles an item gives its reason."""
    majority = Rule(reports.MAJORITY)
    assert column(session, study, run_id, majority) == ["location; price", "location", ""]
    second = select(Result.judged_item_id).join(Query).where(Result.rank == 2)
    item = session.scalars(second).one()
    assert item is not None
    adjudications.adjudicate(session, rater, item, NO, "type", NOW)
    adjudicated = column(session, study, run_id, Rule(reports.ADJUDICATED))
    assert adjudicated == ["location; price", "type", ""]
    assert session.scalars(select(Judgment.reason).where(Judgment.reason == "type")).all() == []
