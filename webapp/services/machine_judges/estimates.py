"""The cards that a machine judge has left, their prompts, and the estimated cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from msgspec import Struct
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.machine_judges import MachineCall, MachineJudge
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question
from webapp.services.judging.judged_things import PORTION, from_row
from webapp.services.machine_judges import prompts as machine_prompts
from webapp.services.rating import pages, pool
from webapp.services.rating.pages import EarlierTurn
from webapp.services.rating.pool import Purpose

CHARACTERS_PER_TOKEN = 4
COMPLETION_TOKENS = 60
"""The assumed length of an answer before any was measured: one object, one sentence."""
FEWEST_MEASURED = 5
"""The number of answers stating their tokens that replaces the two numbers above."""
MILLION = 10**6


class Rates(Struct, frozen=True):
    """Tokens for each character of a prompt, and for an answer; ``measured`` on n answers."""

    per_character: float = 1 / CHARACTERS_PER_TOKEN
    completion: float = COMPLETION_TOKENS
    measured: int = 0

    def prompt(self, characters: int) -> int:
        """Return the estimated tokens of a prompt of that many characters."""
        return ceil(characters * self.per_character)


class TokenEstimate(Struct, frozen=True):
    """The estimated tokens for judging ``things`` cards; ``example`` is the prompt of the first.

    ``measured`` is the number of answers behind the estimate; 0 means none yet.
    """

    things: int
    prompt_tokens: int
    completion_tokens: int
    measured: int
    example: str

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


def cost(
    prompt_tokens: int,
    completion_tokens: int,
    prompt_price: float | None,
    completion_price: float | None,
) -> float | None:
    """Return the cost of tokens at prices for a million; ``None`` without both prices.

    >>> cost(2_000_000, 500_000, 0.15, 0.6)
    0.6
    """
    if prompt_price is None or completion_price is None:
        return None
    return (prompt_tokens * prompt_price + completion_tokens * completion_price) / MILLION


def estimate(session: Session, judge: MachineJudge, most: int | None = None) -> TokenEstimate:
    """Return the estimate for the cards left to judge, `most` of them at most."""
    found = open_things(session, judge)[:most]
    told = rates(session, judge)
    prompts = prompts_of(session, judge, found)
    characters, example = 0, ""
    for _, prompt in prompts:
        characters, example = characters + len(prompt), example or prompt
    return TokenEstimate(
        things=len(found),
        prompt_tokens=told.prompt(characters),
        completion_tokens=ceil(len(found) * told.completion),
        measured=told.measured,
        example=example,
    )


def open_things(session: Session, judge: MachineJudge, *but_not: ColumnElement[bool]) -> list[int]:
    """Return the cards without a verdict of the judge; those that people judged come first.

    So a small budget shows how far it agrees with them. Within both parts the order is
    shuffled by the study's secret: the cards within a budget are a sample of all questions.
    """
    study = judge.rater.study
    own = select(Judgment.judged_thing_id).where(
        Judgment.rater_id == judge.rater_id, Judgment.verdict.is_not(None)
    )
    people = (
        select(Judgment.judged_thing_id)
        .join(Rater, Rater.id == Judgment.rater_id)
        .where(
            Rater.study_id == study.id,
            Rater.is_machine.is_(False),
            Judgment.verdict.is_not(None),
        )
    )
    rows = session.execute(
        select(JudgedThing.id, JudgedThing.id.in_(people)).where(
            pool.is_shown(study.id, study.pool_depth),
            JudgedThing.property_id.is_not(None),
            JudgedThing.id.not_in(own),
            *but_not,
        )
    )

    def place(row: tuple[int, bool]) -> tuple[bool, bytes]:
        drawn = pool.draw(study.order_secret, Purpose.MACHINE, judge.rater_id, row[0])
        return not row[1], drawn

    return [thing for thing, _ in sorted(((thing, known) for thing, known in rows), key=place)]


def prompts_of(
    session: Session, judge: MachineJudge, things: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Yield the judge's prompt for each of these judged things, in their order."""
    earlier: dict[tuple[int, str], tuple[EarlierTurn, ...]] = {}
    for start in range(0, len(things), PORTION):
        portion = things[start : start + PORTION]
        rows = session.execute(
            select(JudgedThing, Question.text)
            .join(Question, Question.id == JudgedThing.question_id)
            .where(JudgedThing.id.in_(portion))
        )
        found = {thing.id: (thing, text) for thing, text in rows}
        for key in portion:
            thing, text = found[key]
            yield (
                key,
                machine_prompts.filled(
                    judge.prompt,
                    judge.language,
                    text,
                    _earlier(session, thing, earlier),
                    from_row(thing.card or {"title": ""}),
                ),
            )


def rates(session: Session, judge: MachineJudge) -> Rates:
    """Return the tokens that the judge's prompts and answers took so far, else the assumed ones."""
    n, characters, prompt, completion = session.execute(
        select(
            func.count(),
            func.sum(MachineCall.prompt_characters),
            func.sum(MachineCall.prompt_tokens),
            func.sum(MachineCall.completion_tokens),
        ).where(
            MachineCall.rater_id == judge.rater_id,
            MachineCall.prompt_tokens.is_not(None),
            MachineCall.completion_tokens.is_not(None),
        )
    ).one()
    if n < FEWEST_MEASURED or not characters or not prompt:
        return Rates()
    # PostgreSQL sums whole numbers as decimals.
    return Rates(int(prompt) / int(characters), int(completion or 0) / n, n)


def _earlier(
    session: Session, thing: JudgedThing, known: dict[tuple[int, str], tuple[EarlierTurn, ...]]
) -> tuple[EarlierTurn, ...]:
    """Return the conversation that a thing of a context-dependent question rests on."""
    if thing.run_id is None:
        return ()
    place = (thing.question_id, thing.run_id)
    if place not in known:
        query = session.scalar(
            select(Query).where(Query.run_id == place[1], Query.question_id == place[0])
        )
        known[place] = pages.earlier_turns(session, query) if query else ()
    return known[place]
