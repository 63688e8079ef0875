"""A made-up phase 3 for the tests of its files: three people, one of them hostile."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from tests.conftest import NOW
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.judging.figures import QueryRow
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.metrics.phase_3.user_study import (
    Comment,
    OwnAnswer,
    Person,
    UserStudyReport,
    by_category,
    by_theme,
    clustered_figures,
    usability_summary,
)
from webapp.records import Card, QueryState, Relevance

HOSTILE = '=1+1|<script>alert(1)</script> \\input{x} $&%_ "q"'
VERDICTS = {"R": Relevance.RELEVANT, "N": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE, "-": None}


def answer(
    number: int, judged: str, *, category: str = "", question: str = "", notes: str = ""
) -> OwnAnswer:
    """Return a question whose cards were judged as the letters say; "-" is unjudged."""
    verdicts = tuple(VERDICTS[letter] for letter in judged)
    summary = summarise(
        QueryJudgments(QueryState.RESULTS, verdicts, None, float(4 if judged[0] == "R" else 2)),
        cannot_tell="left_out",
    )
    text = question or f"Question {number}"
    row = QueryRow(number, text, category, notes, summary, verdicts)
    cards = tuple(
        (rank, Card(f"House {rank}", url=f"https://example.org/{rank}"), verdict)
        for rank, verdict in enumerate(verdicts, start=1)
    )
    return OwnAnswer(
        number, text, category, 1, "answered", NOW, NOW + timedelta(seconds=5), "Answer", row, cards
    )


def person(
    number: int,
    pseudonym: str,
    answers: Sequence[OwnAnswer],
    usability: str = "",
    comments: tuple[Comment, ...] = (),
) -> Person:
    """Return somebody who agreed; `usability` has a digit for each item, or none."""
    given = tuple(int(digit) for digit in usability) or (None,) * 10
    return Person(
        id=number,
        number=number,
        pseudonym=pseudonym,
        consent=1,
        agreed_at=NOW,
        finished_at=NOW if usability else None,
        answers=tuple(answers),
        usability=given,
        comments=comments,
    )


def user_study_report(people: Sequence[Person] | None = None) -> UserStudyReport:
    """Return a report of three people, or of `people`."""
    settings = Resampling(resamples=200)
    found = tuple(three_people() if people is None else people)
    return UserStudyReport(
        study="Rumah",
        search_method="hybrid",
        llm="demo",
        most_questions=10,
        people=found,
        declined=1,
        withdrawn=2,
        judged_until=NOW if found else None,
        settings=settings,
        version="1.0",
        figures=clustered_figures([one.totals for one in found], settings),
        categories=by_category(found, settings),
        themes=by_theme(found),
        usability=usability_summary(
            [one.usability_score for one in found if one.usability_score is not None]
        ),
        cannot_tell="left_out",
    )


def three_people() -> list[Person]:
    """Return Melati (P@5 1 and 0.5), Kenari (0) and one whose every word is hostile (1)."""
    price = Comment("helped", "Prices", ("price",))
    bad = Comment("note 1", HOSTILE, ("price", HOSTILE[:60]), HOSTILE)
    return [
        person(
            1,
            "Melati",
            [answer(1, "RR", category="area"), answer(2, "RN", category="area")],
            "5151515151",
            (price,),
        ),
        person(2, "Kenari", [answer(1, "NN"), answer(2, "R-")], "3333333333"),
        person(3, HOSTILE, [answer(1, "R?", question=HOSTILE, category=HOSTILE)], comments=(bad,)),
    ]
