"""Questions that a sample did not draw: on no page, in no file and in no figure."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.i18n import speaking
from relevansi.importers.runs import csv_ratings
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.planning.sampling import random_order
from relevansi.services.agreement import agreement
from relevansi.services.exports import exports, rated_imports, trees
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.offline import runs as offline
from relevansi.services.planning import samples
from relevansi.services.rating import blind_pages, open_pages, task_order, tasks, workloads
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.runs import reports, runs
from relevansi.services.study import progress, studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query

SIZE = 6
LATER = NOW + timedelta(hours=1)
NOTE = (
    "3 questions are not asked, as the study's sample did not draw them: no figure counts them, "
    "and files of ratings leave them out."
)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    queries = [query(n, card(f"a{n}"), text=f"Question {n}") for n in range(1, SIZE)]
    follow_up = query(SIZE, card("a6"), text="Any other?", context_dependent=True)
    run_id = stored(session, study, "api", *queries, follow_up)
    set_study(session, study, repeat_percent=0, blind=False)
    return run_id


@pytest.fixture(name="drawn")
def _drawn(session: Session, study: Study, rater: Rater, run_id: str) -> tuple[int, ...]:
    assert run_id
    (question_set,) = samples.question_sets(session, study)
    seed = next(seed for seed in range(1000) if sampled(question_set, seed) == {2, 4, 6})
    samples.draw_sample(session, rater, question_set, 3, NOW, seed=seed)
    return 2, 4, 6


def sampled(question_set: QuestionSet, seed: int) -> set[int]:
    """The positions of the three questions that a seed draws."""
    positions = [question.position for question in question_set.questions]
    return set(random_order(positions, seed)[:3])


def rate(session: Session, rater: Rater, run_id: str, query_id: int, verdict: object = YES) -> None:
    name = f"{rater.id}-{query_id}"
    judgments.judge(session, rater, run_id, query_id, 1, verdict, click(name))  # type: ignore[arg-type]
    judgments.rate(session, rater, run_id, query_id, AnswerRating(quality=4), click(f"{name}-q"))


def exported(session: Session, study: Study, run_id: str, form: str) -> tuple[str, tuple[str, ...]]:
    with speaking("en"):
        file = exports.export(session, study, run_id, reports.rule_of(session, study), form)
    return file.data.decode(), file.notes


def test_files_leave_the_questions_out_and_say_so(
    session: Session, study: Study, rater: Rater, run_id: str, drawn: tuple[int, ...]
) -> None:
    for number in drawn:
        rate(session, rater, run_id, number)

    rated, _ = exported(session, study, run_id, "csv")
    assert all(line.endswith(",1,1,1.0000,1.0000,1.0000,1,4,") for line in rated.splitlines()[1:])
    for form, header in (("csv", 1), ("wide-csv", 1), ("qrels", 0), ("run", 0)):
        text, notes = exported(session, study, run_id, form)
        first = [line.replace(",", " ").split()[0] for line in text.splitlines()[header:]]
        assert first == ["2", "4", "6"]
        assert notes == (NOTE,)  # nothing else is left out: all that is asked is judged
    cards, notes = exported(session, study, run_id, "long-csv")
    assert [line.split(",")[2] for line in cards.splitlines()[1:]] == ["2", "4", "6"]
    assert notes == (NOTE,)

    document = json.loads(exported(session, study, run_id, "json")[0])
    assert [entry["query_id"] for entry in document["queries"]] == [2, 4, 6]
    assert document["not_asked"] == [1, 3, 5]

    report, _ = exported(session, study, run_id, "report")
    counts = "Complete. 3 questions: 3 with results, 0 empty, 0 failed, 0 unreadable."
    assert f"{counts} {NOTE}" in report
    with speaking("en"):
        written, notes = trees.tree(
            session, study, reports.rule_of(session, study), lambda *_: b"<html>"
        )
    assert notes[-1] == NOTE
    template = next(data for path, data in written.items() if "evaluation_template" in path)
    assert [line[0] for line in template.decode().splitlines()[1:]] == ["2", "4", "6"]


def test_a_verdict_given_outside_the_sample_counts_nowhere(
    session: Session, study: Study, rater: Rater, run_id: str, drawn: tuple[int, ...]
) -> None:
    for number in drawn:
        rate(session, rater, run_id, number)
    before = reports.report(session, study, run_id, reports.rule_of(session, study))
    alone = open_pages.rating_page(session, rater, run_id, 2, QueryFilter())

    rate(session, rater, run_id, 1, NO)

    assert reports.report(session, study, run_id, reports.rule_of(session, study)) == before
    after = open_pages.rating_page(session, rater, run_id, 2, QueryFilter())
    assert after.run_progress == alone.run_progress
    assert after.run_progress.totals.n_queries == 3


def test_a_rated_csv_is_known_again_with_and_without_the_other_questions(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    rate(session, rater, run_id, 2)
    complete = exported(session, study, run_id, "csv")[0].encode()
    rule = samples.question_sets(session, study)[0]
    judgments.judge(session, rater, run_id, 2, 1, None, click("back"))
    samples.draw_sample(session, rater, rule, 3, NOW, seed=1)
    part = exported(session, study, run_id, "csv")[0].encode()

    for data in (complete, part):
        comparison = rated_imports.compare(session, study, "rated.csv", data, [run_id])
        assert comparison.run_id == run_id
        assert (
            rated_imports.examine(session, study, csv_ratings.read("rated.csv", data), None).run_id
            == run_id
        )


def test_the_list_of_runs_leads_to_sampled_questions_only(
    session: Session, rater: Rater, run_id: str, drawn: tuple[int, ...]
) -> None:
    (overview,) = runs.overviews(session, rater)
    assert overview.first_open == 2
    assert (overview.progress.open_queries, overview.progress.open_judgments) == (3, 3)
    assert (overview.counts.queries, overview.counts.cards) == (6, 6)  # what the run holds

    for number in drawn:
        rate(session, rater, run_id, number)

    (overview,) = runs.overviews(session, rater)
    assert overview.first_open is None
    page = runs.run_page(session, rater, run_id)
    assert [number for number, line in page.queries.items() if not line.is_asked] == [1, 3, 5]
    assert not any(line.is_open for line in page.queries.values())


def test_the_ways_of_the_rating_page_lead_past_the_others(
    session: Session, rater: Rater, run_id: str, drawn: tuple[int, ...]
) -> None:
    assert drawn
    place = open_pages.rating_page(session, rater, run_id, 2, QueryFilter()).place
    assert (place.position, place.of) == (1, 3)
    assert (place.previous, place.next, place.next_open) == (None, 4, 4)
    rate(session, rater, run_id, 4)
    assert open_pages.rating_page(session, rater, run_id, 2, QueryFilter()).place.next_open == 6

    unasked = open_pages.rating_page(session, rater, run_id, 3, QueryFilter()).place
    assert (unasked.position, unasked.of) == (None, 3)
    assert (unasked.previous, unasked.next, unasked.next_open) == (2, 4, 6)


def test_a_blind_task_given_before_the_draw_opens_and_counts_no_more(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    assert run_id
    set_study(session, study, blind=True)
    assigned = tasks.prefetch(session, rater, NOW, 4)
    (question_set,) = samples.question_sets(session, study)
    first = assigned[0].question.position
    seed = next(seed for seed in range(1000) if first not in sampled(question_set, seed))
    samples.draw_sample(session, rater, question_set, 3, NOW, seed=seed)

    page = blind_pages.blind_page(session, rater, assigned[0].id)
    assert page.place.position is None
    assert page.place.next is None
    assert page.progress.of == 3
    assert (workloads.progress(session, rater).finished, page.progress.turns_left) == (0, 3)
    following = task_order.onward(session, rater, LATER, QueryFilter(), after=assigned[0].id)
    assert following is not None
    position = session.get_one(Task, following).question.position
    assert position in sampled(question_set, seed)


def test_agreement_and_progress_are_of_the_sample(
    session: Session, study: Study, rater: Rater, run_id: str, drawn: tuple[int, ...]
) -> None:
    second_rater = studies.add_rater(session, study, "Siti", NOW)
    for number in (*drawn, 1):
        rate(session, rater, run_id, number)
        rate(session, second_rater, run_id, number, UNSURE if number == 2 else YES)

    for kind in (ItemKind.CARDS, ItemKind.QUALITY):
        assert len(agreement.items(session, study, kind, [rater, second_rater])) == 3
    questions, saving = progress.question_progress(session, study), progress.saving(session, study)
    assert [question.position for question in questions] == [*drawn]
    assert (saving.cards, saving.distinct) == (3, 3)
    assert {of_rater.progress.of for of_rater in progress.progress_of_raters(session, study)} == {3}
    assert session.scalars(select(Question.position)).all() != [*drawn]


def test_a_file_for_rating_without_a_server_has_sampled_questions_only(
    session: Session, study: Study, run_id: str, drawn: tuple[int, ...]
) -> None:
    result = offline.offline_run(session, study, run_id)

    assert [question.query_id for question in result.questions] == [*drawn]
    assert result.unasked == (1, 3, 5)
    *_, last = result.questions
    # It depends on question 5, which is not asked: its rater reads that all the same.
    assert [(turn.query_id, turn.response) for turn in last.turns] == [(5, "Answer 5: ['a5']")]
