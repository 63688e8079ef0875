"""Switches and when a study is blind; which set a run joins; how far everybody is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredSummary
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.graded import headline_of
from relevansi.records import BINARY, Scale
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.rating import open_pages, task_judgments
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.runs.stored_runs import ImportedRun
from relevansi.services.study import assignments, studies
from relevansi.services.study.assignments import Exposure, Period
from relevansi.services.study.progress import progress_of_raters, question_progress, saving
from tests.conftest import NOW
from tests.services.rating.blind_raters import current_page, set_study, stored
from tests.services.runs.runs import UNSURE, YES, card, click, count, query, run, store


def test_a_study_is_blind_once_two_runs_compete(session: Session, study: Study) -> None:
    assert not studies.is_blind(session, study)
    stored(session, study, "hybrid", query(1))
    assert not studies.is_blind(session, study)
    stored(session, study, "api_only", query(1, card("a")))
    assert studies.is_blind(session, study)
    set_study(session, study, blind=False)
    assert not studies.is_blind(session, study)


def test_cannot_tell_makes_figures_anew(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a"), card("b")), query(2, card("c")))
    second = studies.add_rater(session, study, "Ani", NOW)
    for somebody in (rater, second):
        judgments.judge(session, somebody, run_id, 1, 1, YES, click(f"{somebody.id} 1"))
        judgments.judge(session, somebody, run_id, 1, 2, UNSURE, click(f"{somebody.id} 2"))
        judgments.judge(session, somebody, run_id, 2, 1, UNSURE, click(f"{somebody.id} 3"))
    # As the study counts from the beginning, each click too: 1 of 2 and 0 of 1.
    assert figures_of(session, rater, run_id) == [(0.5, 1.0), (0.0, 0.0)]
    revision = study.revision

    set_study(session, study, cannot_tell="left_out")

    for somebody in (rater, second):
        assert figures_of(session, somebody, run_id) == [(1.0, 1.0), (None, None)]
    assert stored_summaries.check(session) == []
    session.refresh(study)
    assert study.revision != revision
    (entry,) = session.scalars(select(LogEntry).where(LogEntry.action == "set cannot_tell"))
    assert (entry.old, entry.new) == ("not_relevant", "left_out")
    judgments.judge(session, rater, run_id, 2, 1, None, click("again", minute=1))
    judgments.judge(session, rater, run_id, 2, 1, UNSURE, click("and again", minute=2))
    assert figures_of(session, rater, run_id)[1] == (None, None)


def test_the_scale_is_settled_by_the_first_verdict(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    graded = Scale(top=3, relevant_from=2)
    set_study(session, study, scale=graded)
    assert studies.switches(study).scale == graded
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    for scale in (BINARY, Scale(top=3), Scale(top=4, relevant_from=2)):
        with pytest.raises(studies.ScaleInUse):
            set_study(session, study, scale=scale, overlap=3)
    worded = replace(graded, words=("no", "hardly", "partly", "yes"), guidance=("", "", "", "all"))
    set_study(session, study, scale=worded, merging="majority")

    session.expire_all()
    assert studies.switches(study).scale == worded
    assert (study.merging, study.overlap) == ("majority", None)
    actions = select(LogEntry.action).order_by(LogEntry.id)
    assert session.scalars(actions).all() == ["set scale", "set scale", "set merging"]


def test_verdicts_of_another_study_settle_nothing(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()

    assert studies.has_verdicts(session, study)
    assert not studies.has_verdicts(session, second_study)


@pytest.mark.parametrize(
    ("top", "relevant_from", "words", "refused"),
    [
        (3, 2, (), None),
        (1, 1, ("no", "yes"), None),
        (2, 1, ("", "", ""), None),
        (2, 3, (), studies.UnfitThreshold),
        (1, 2, (), studies.UnfitThreshold),
        (2, 1, ("no", "yes"), studies.UnfitWords),
    ],
)
def test_a_scale_has_a_threshold_on_it_and_a_word_for_each_grade(
    top: int, relevant_from: int, words: tuple[str, ...], refused: type[ValueError] | None
) -> None:
    if refused is None:
        scale = studies.scale_of(top, relevant_from, words)
        assert scale == Scale(top, relevant_from, words if any(words) else ())
    else:
        with pytest.raises(refused):
            studies.scale_of(top, relevant_from, words)


USUAL_OF_DOCUMENTS = ("P@5", "RR@10", "success@10", "Judged@10")


@pytest.mark.parametrize(
    ("kind", "top", "measures", "headline"),
    [
        ("property", 1, None, HEADLINES),
        ("property", 3, None, HEADLINES),
        ("document", 1, None, USUAL_OF_DOCUMENTS),
        ("document", 2, None, ("nDCG@10", *USUAL_OF_DOCUMENTS)),
        ("property", 1, ["mrr", "nDCG@5"], ("mrr", "nDCG@5")),
    ],
)
def test_the_headline_is_chosen_or_that_of_the_kind(
    kind: str, top: int, measures: list[str] | None, headline: tuple[str, ...]
) -> None:
    study = Study(kind=kind, scale=Scale(top=top).to_store(), measures=measures)

    assert headline_of(study) == headline
    offered = studies.offered_figures(study)
    assert offered[: len(headline)] == headline
    assert len(set(offered)) == len(offered)
    assert set(offered) >= {"coverage", "RBP", "nDCG@10", "ERR@10"}
    assert ("composite" in offered) is (kind == "property")


def test_figures_are_chosen_by_name(session: Session, study: Study) -> None:
    usual = headline_of(study)
    set_study(session, study, measures=("NDCG@10 (exponential)", "MRR", "rbp(.80)", "mrr"))
    session.expire_all()
    assert headline_of(study) == ("nDCG@10 (exponential)", "mrr", "RBP(0.8)")
    with pytest.raises(studies.UnknownHeadline) as refused:
        set_study(session, study, measures=("P@5", "P@0"))
    assert {"nDCG@k", "success_rate"} <= set(str(refused.value).rstrip(".").split(", "))
    for names in (usual, ()):
        set_study(session, study, measures=("P@5",))
        set_study(session, study, measures=names)
        assert study.measures is None


@pytest.mark.usefixtures("rater")
@pytest.mark.parametrize(
    "switches", [{"scale": Scale(top=2)}, {"measures": ("P@5",)}, {"asks_quality": False}]
)
def test_what_figures_rest_on_makes_them_anew(
    session: Session, study: Study, switches: dict[str, object]
) -> None:
    stored(session, study, "hybrid", query(1, card("a"), card("b")))
    session.execute(update(StoredSummary).values(results_count=9))
    assert stored_summaries.check(session) != []

    set_study(session, study, **switches)

    assert stored_summaries.check(session) == []


@pytest.mark.parametrize(
    ("kind", "expected_asks"),
    [("property", [True, True, True]), ("document", [True, False, False])],
)
def test_quality_is_asked_of_answers(
    session: Session, study: Study, kind: str, expected_asks: list[bool]
) -> None:
    stored(session, study, "hybrid", query(1, card("a")), query(2, card("b")), query(3))
    study.kind = kind
    for number, blank in ((2, ""), (3, " \n")):
        session.execute(update(Query).where(Query.query_id == number).values(response=blank))
    asks_quality = select(Query.asks_quality).order_by(Query.query_id)

    set_study(session, study, asks_quality=False)
    assert session.scalars(asks_quality).all() == [False] * 3
    set_study(session, study, asks_quality=True)
    assert session.scalars(asks_quality).all() == expected_asks


def figures_of(
    session: Session, rater: Rater, run_id: str
) -> list[tuple[float | None, float | None]]:
    """Return the stored overall precision and success of each query of a run."""
    session.expire_all()
    row = StoredSummary
    rows = select(row.figures).where(row.rater_id == rater.id, row.run_id == run_id)
    stored = session.scalars(rows.order_by(row.query_key))
    return [
        (figures["mean_overall_precision"][0], figures["success_rate"][0]) for figures in stored
    ]


def switch(session: Session, study: Study, hour: int, **switches: object) -> None:
    """Set some of the study's switches `hour` hours after the tests' moment."""
    changed = replace(studies.switches(study), **switches)
    studies.set_switches(session, study, changed, NOW + timedelta(hours=hour))
    session.flush()


def at(hour: int, until: int | None = None) -> Period:
    """Return the period between two hours after the tests' moment."""
    end = None if until is None else NOW + timedelta(hours=until)
    return Period(NOW + timedelta(hours=hour), end)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_reports_name_when_raters_saw_more_than_cards(session: Session, study: Study) -> None:
    assert assignments.exposure(session, study) == Exposure((), (), ())
    switch(session, study, 1, badges_while_blind=True, suggest_quality=True)
    for hour, shows_record in enumerate((True, False, True), start=2):
        switch(session, study, hour, show_record=shows_record)
    switch(session, study, 6, badges_while_blind=False)
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()
    switch(session, second_study, 1, show_record=False)

    assert assignments.exposure(session, study) == Exposure(
        (at(1, until=6),), (at(2, until=3), at(4)), (at(1),)
    )


def questions(session: Session, imported: ImportedRun) -> list[tuple[int, str]]:
    question_set = session.get_one(Run, imported.id).question_set_id
    rows = session.execute(
        select(Question.position, Question.text)
        .where(Question.question_set_id == question_set)
        .order_by(Question.position)
    )
    return [(position, text) for position, text in rows]


def test_blanks_and_case_make_no_other_question(session: Session, study: Study) -> None:
    store(session, study, run(query(1, text="apakah ada gudang di KIM?")))
    store(session, study, run(query(1, card("a"), text="Apakah ada gudang di KIM ?"), method="b"))

    assert count(session, QuestionSet) == 1
    assert count(session, Question) == 1


def test_a_part_in_order_joins_the_larger_set(session: Session, study: Study) -> None:
    larger = store(session, study, run(query(1), query(2), query(3)))
    part = store(session, study, run(query(1), query(3, card("a")), method="b"))

    assert questions(session, part) == questions(session, larger)
    assert count(session, Question) == 3


def test_a_set_grows_and_keeps_judgments(session: Session, study: Study, rater: Rater) -> None:
    part = store(session, study, run(query(2, card("a"), text="B"), method="b"))
    judgments.judge(session, rater, part.id, 2, 1, YES, click("e1"))
    larger = store(session, study, run(query(1, text="A"), query(2, card("a"), text="B")))

    assert questions(session, part) == questions(session, larger) == [(1, "A"), (2, "B")]
    page = open_pages.rating_page(session, rater, larger.id, 2, QueryFilter())
    assert page.cards[0].relevance == YES
    assert stored_summaries.check(session) == []


def test_two_parts_are_brought_together_by_the_whole(session: Session, study: Study) -> None:
    first = store(session, study, run(query(1, text="A"), method="a"))
    second = store(session, study, run(query(1, text="B"), method="b"))
    store(session, study, run(query(1, text="A"), query(2, text="B")))

    assert questions(session, first) == questions(session, second) == [(1, "A"), (2, "B")]
    assert count(session, QuestionSet) == 1


def test_ids_of_the_file_tell_equal_texts_apart(session: Session, study: Study) -> None:
    repeated = run(query(1, text="more"), query(2, text="with"), query(3, text="more"))
    store(session, study, repeated)
    part = store(session, study, run(query(3, card("a"), text="more"), method="b"))

    item = session.scalars(select(JudgedItem).join(Result)).one()
    question = session.get_one(Question, item.question_id)
    assert question.position == 3
    assert part.counts.queries == 1


def two_runs(session: Session, study: Study) -> None:
    stored(session, study, "hybrid", query(1, card("a"), card("b"), card("a")), query(2))
    stored(session, study, "api_only", query(1, card("b"), card("c")), query(2))


def test_the_saving_counts_cards_against_distinct_things(session: Session, study: Study) -> None:
    two_runs(session, study)

    result = saving(session, study)
    # Five cards shown; a, b and c to judge.
    assert (result.cards, result.distinct, result.beyond, result.saved) == (5, 3, 0, 2)
    set_study(session, study, pool_depth=1)
    session.flush()
    result = saving(session, study)
    assert (result.cards, result.distinct, result.beyond) == (5, 2, 1)


def test_raters_and_questions_say_how_far(session: Session, study: Study, rater: Rater) -> None:
    two_runs(session, study)
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    page = current_page(session, second_rater)
    for number, blind_card in enumerate(page.cards[:2]):
        key, event = blind_card.key, click(f"e{number}", minute=number)
        task_judgments.judge(session, second_rater, page.task_id, key, YES, event)

    mine, theirs = progress_of_raters(session, study)
    assert (mine.name, mine.judged, mine.pace) == (rater.name, 0, None)
    # One card and one empty list are left, and the quality of two answers to each question.
    assert (theirs.progress.open_judgments, theirs.progress.unrated) == (2, 4)
    assert (theirs.judged, theirs.pace, theirs.seconds_left) == (2, 60, 360)
    assert theirs.last_at == NOW + timedelta(minutes=1)
    first, second = question_progress(session, study)
    assert (first.judged_items, first.given_to, first.judged) == (3, ["Budi"], {"Budi": 2})
    assert (second.judged_items, second.given_to, second.judged) == (1, [], {})
