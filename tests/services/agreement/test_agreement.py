"""Agreement in a study, and runs judged by hand apart from one another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, Repeat, RepeatRating, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.metrics.agreement.agreement import NoAgreement, Scale, agreement
from relevansi.metrics.agreement.conflicts import JudgedRun
from relevansi.metrics.agreement.report import AgreementReport, CannotTell, ItemKind, KindAgreement
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.agreement import agreement as study_agreement
from relevansi.services.agreement.agreement import (
    SameFolderTwice,
    compare,
    judged_run,
)
from relevansi.services.agreement.agreement import run_names as names_of
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import NO, UNSURE, YES, card, click, query, run, store

VERDICTS: dict[str, list[Relevance | None]] = {
    "Ani": [YES, YES, NO, YES],
    "Budi": [YES, NO, NO, UNSURE],
    "Citra": [YES, YES, None, None],
}
"""Verdicts on cards a, b (category area) and c, d (category price); None is unjudged."""


@pytest.fixture(name="raters")
def _raters(session: Session, study: Study, rater: Rater) -> dict[str, Rater]:
    rater.name = "Ani"
    added = {name: studies.add_rater(session, study, name, NOW) for name in ("Budi", "Citra")}
    return {"Ani": rater, **added}


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, raters: dict[str, Rater]) -> str:
    """Two questions with two cards each and an empty one, judged as ``VERDICTS`` has it."""
    queries = (
        query(1, card("a"), card("b"), category="area"),
        query(2, card("c"), card("d"), category="price"),
        query(3, category="price"),
    )
    run_id = store(session, study, run(*queries)).id
    for name, verdicts in VERDICTS.items():
        for number, verdict in enumerate(verdicts):
            if verdict is not None:
                place = (1 + number // 2, 1 + number % 2)
                event = click(f"{name}{number}", minute=number)
                judgments.judge(session, raters[name], run_id, *place, verdict, event)
    return run_id


def report(session: Session, study: Study) -> AgreementReport:
    return study_agreement.report(session, study)


def of(result: AgreementReport, kind: ItemKind) -> KindAgreement:
    return next(part for part in result.kinds if part.kind is kind)


@pytest.mark.usefixtures("run_id")
def test_agreement_on_cards_is_the_pure_modules_of_the_verdicts(
    session: Session, study: Study
) -> None:
    cards = of(report(session, study), ItemKind.CARDS)

    table = ((1, 1, 1), (1, 0, 1), (0, 0, None), (1, None, None))
    assert cards.overall == agreement(table, labels=(0, 1))
    # Pairs of labels that agree: 3 of 3, 1 of 3, 1 of 1; d was decided once: (1 + 1/3 + 1) / 3.
    assert cards.overall.raw.value == pytest.approx(7 / 9)
    assert (cards.n_items, cards.n_shared, cards.raters) == (4, 3, ("Ani", "Budi", "Citra"))
    # Ani and Budi: a and c alike, b not. Ani: 1 1 0; Budi: 1 0 0.
    # Pe = 2/3 x 1/3 + 1/3 x 2/3 = 4/9; kappa = (2/3 - 4/9) / (1 - 4/9) = 2/5.
    both = cards.pairs["Ani", "Budi"]
    assert both.raw.n == 3
    assert both.raw.value == pytest.approx(2 / 3)
    assert both.cohen.value == pytest.approx(0.4)
    # Ani and Citra said "relevant" twice: no chance to tell from.
    assert cards.pairs["Ani", "Citra"].cohen.why_undefined is NoAgreement.ONE_LABEL
    assert list(cards.pairs) == [("Ani", "Budi"), ("Ani", "Citra"), ("Budi", "Citra")]
    categories = {name: (n, result.raw.n) for name, (n, result) in cards.categories.items()}
    assert [*categories.items()] == [("area", (2, 2)), ("price", (2, 1))]
    assert cards.cannot_tell == CannotTell(1, 10)
    assert cards.cannot_tell_by["Budi"].rate == 0.25


def test_empty_lists_are_counted_apart_and_quality_is_an_order(
    session: Session, study: Study, raters: dict[str, Rater], run_id: str
) -> None:
    grades = {"Ani": (5, 2), "Budi": (4, 2), "Citra": (None, 0)}
    for name, values in grades.items():
        for number, grade in enumerate(values, start=1):
            rating = AnswerRating(quality=grade)
            judgments.rate(session, raters[name], run_id, number, rating, click(f"{name}q{number}"))
    for name, outcome in zip(("Ani", "Budi"), EmptyOutcome, strict=True):
        rating = AnswerRating(empty_outcome=outcome)
        judgments.rate(session, raters[name], run_id, 3, rating, click(f"{name}-empty"))
    result = report(session, study)

    assert of(result, ItemKind.CARDS).n_items == 4
    empty, quality = of(result, ItemKind.EMPTY_LISTS), of(result, ItemKind.QUALITY)
    assert (empty.n_items, empty.overall.raw.value, empty.raters) == (1, 0, ("Ani", "Budi"))
    table = ((5, 4, None), (2, 2, 0))
    expected = agreement(table, scale=Scale.ORDINAL, labels=range(6))
    assert quality.overall == expected
    assert quality.cannot_tell is None


def test_a_repeated_verdict_is_compared_with_the_current_one(
    session: Session, study: Study, raters: dict[str, Rater], run_id: str
) -> None:
    ani = raters["Ani"]
    outcome = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, ani, run_id, 3, outcome, click("e", minute=9))
    judgments.rate(session, ani, run_id, 1, AnswerRating(quality=5), click("q", minute=9))
    items = session.scalars(select(JudgedItem).order_by(JudgedItem.id)).all()
    cards = [item for item in items if item.item_id is not None]
    (empty,) = (item for item in items if item.item_id is None)
    answer = session.scalars(select(Query).where(Query.query_id == 1)).one()
    for key, question_id in (("t", answer.question_id), ("u", empty.question_id)):
        task = Task(id=key, rater=ani, question_id=question_id, kind="repeat", claimed_at=NOW)
        session.add(task)
    session.flush()
    # Ani's standing verdicts on a, b, c are 1 1 0; asked again: 1 0 and not yet answered.
    for item, verdict in zip(cards, ("1", "0", None), strict=False):
        session.add(Repeat(task_id="t", judged_item_id=item.id, verdict=verdict))
    session.add(RepeatRating(task_id="t", query_key=answer.id, quality=4))
    session.add(Repeat(task_id="u", judged_item_id=empty.id, verdict="correct_empty"))
    session.flush()

    result = {repeat.kind: repeat for repeat in report(session, study).repeats}
    repeat = result[ItemKind.CARDS]
    assert (repeat.rater, repeat.repeats, repeat.answered) == ("Ani", 3, 2)
    assert repeat.agreement.raw.n == 2
    # "Correct empty" both times; 5 first and 4 then are not the same grade.
    values = [result[kind].agreement.raw.value for kind in ItemKind]
    assert values == [0.5, 1, 0]


def test_the_first_judgment_is_the_earlier_of_both_clocks(
    session: Session, study: Study, raters: dict[str, Rater], run_id: str
) -> None:
    late_click = click("late", minute=90, client_minute=-30)
    judgments.judge(session, raters["Citra"], run_id, 2, 2, YES, late_click)
    items = study_agreement.items(session, study, ItemKind.CARDS, list(raters.values()))

    assert [item.first and (item.first - NOW).total_seconds() / 60 for item in items] == [
        *(0, 1, 2),
        -30,
    ]


def files(
    name: str, *words: str, titles: str = "ab", question: str = "rumah di cemara"
) -> tuple[bytes, bytes]:
    """Return the files of a run of one question with a verdict by hand on each of its cards."""
    entry: dict[str, Any] = {
        "query_id": 1,
        "question": question,
        "category": "location_simple",
        "response": "\n".join(
            f"{number}. **[Rumah {title}](https://x.example/properti/{title})**"
            for number, title in enumerate(titles, start=1)
        ),
        "properties": [{"name": f"Rumah {title}", "slug": title} for title in titles],
        "properties_count": len(titles),
    }
    run = {"timestamp": "t", "method": name, "threshold_t": 0.6, "results": [entry]}
    decided = {str(index): {"result": word} for index, word in enumerate(words)}
    manual = {"manual_evaluations": {"1": decided}}
    return json.dumps(run).encode(), json.dumps(manual).encode()


def pair(name: str, *words: str, question: str = "rumah di cemara") -> JudgedRun:
    return judged_run(name, *files(name, *words, question=question))


def test_the_first_run_names_questions_and_properties() -> None:
    first = pair("one", "pass", "pass", question="Rumah?")
    comparison = compare([first, pair("other", "fail", "pass", question="RUMAH?")])

    assert comparison.pairs_judged_more_than_once == 2
    assert comparison.contradictions == {(1, "slug:a"): {"one": True, "other": False}}
    assert comparison.questions == {1: (1, "Rumah?")}
    assert comparison.titles == {"slug:a": "Rumah a", "slug:b": "Rumah b"}
    assert comparison.problems == ()


def test_runs_of_one_name_stay_two_runs() -> None:
    comparison = compare([pair("a", "pass"), pair("a", "fail"), pair("a (2)", "fail")])

    assert comparison.favours == {"a": 1, "a (2)": 0, "a (2) (2)": 0}


def test_what_is_wrong_with_a_file_is_kept_beside_its_verdicts() -> None:
    result = pair("a", "pass", "pass", "fail")  # there are two cards

    assert len(result.verdicts) == 2
    assert [problem.file for problem in result.problems] == ["a/manual_input.json"]


def test_folders_are_named_as_shortly_as_tells_them_apart() -> None:
    assert names_of([("a", "x", "h"), ("b", "x", "h"), ("h",)]) == ["a/x/h", "b/x/h", "h"]
    with pytest.raises(SameFolderTwice):
        names_of([("a",), ("a",)])
