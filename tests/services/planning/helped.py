"""Eight questions of two runs, judged by a machine, and a sample of four of them by people."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.planning import PlanningRule, RuleKind
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import QuestionSet, Study
from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.planning import samples
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import NO, YES, card, click, query

QUESTIONS = 8
SAMPLE, SEED = (3, 1, 4, 2), 1936
"""The first questions that the seed draws of eight."""
BY_MACHINE = {1: "11", 2: "10", 3: "00", 4: "11", 5: "10", 6: "11", 7: "00", 8: "01"}
BY_PEOPLE = {1: "11", 2: "10", 3: "01", 4: "11"}
LETTERS = {"1": YES, "0": NO, "?": Relevance.UNSURE}


def study_of_two_runs(session: Session, study: Study) -> tuple[Run, Run]:
    set_study(session, study, repeat_percent=0, blind=False)
    for name in ("hybrid", "vector"):
        queries = (
            query(number, card(f"{name}{number}a"), card(f"{name}{number}b"), text=f"Q {number}?")
            for number in range(1, QUESTIONS + 1)
        )
        stored(session, study, name, *queries)
    first, second = session.scalars(select(Run).order_by(Run.imported_at, Run.search_method))
    return (first, second) if first.search_method == "hybrid" else (second, first)


def machine(session: Session, study: Study, name: str = "Mesin") -> Rater:
    rater = studies.add_rater(session, study, name, NOW)
    rater.is_machine = True
    session.flush()
    return rater


def drawn(session: Session, owner: Rater, run: Run, size: int = len(SAMPLE)) -> PlanningRule:
    question_set = session.get_one(QuestionSet, run.question_set_id)
    kind = RuleKind.MACHINE_HELP
    return samples.draw_sample(session, owner, question_set, size, NOW, kind=kind, seed=SEED)


def judge(session: Session, rater: Rater, run: Run, verdicts: Mapping[int, str]) -> None:
    for number, letters in verdicts.items():
        for rank, letter in enumerate(letters, start=1):
            if letter != "-":
                event = f"{rater.id}-{run.id}-{number}-{rank}"
                verdict = LETTERS[letter]
                judgments.judge(session, rater, run.id, number, rank, verdict, click(event))
