"""A machine judge's prompts, and the reading of its answers.

A prompt is a text with three places: {question}, {earlier} and {card}. The texts that fill them
never name the run, search method or LLM that listed the card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial

from msgspec import Struct
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from relevansi.config import resource
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Question
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.kinds.property import Card
from relevansi.metrics.evaluations.json_answers import SchemaFailure, why_no_json
from relevansi.records import BINARY, Item, Relevance, Scale
from relevansi.services.judging.judged_items import PORTION
from relevansi.services.rating import conversations, pool
from relevansi.services.rating.conversations import EarlierTurn
from relevansi.services.rating.pool import Purpose

MAX_PROMPT = 20_000  # characters
MAX_REASON = 500  # characters
PLACES = ("question", "earlier", "card")
REQUIRED_PLACES = ("question", "card")
VERDICTS: Mapping[str, str] = {
    "relevant": Relevance.RELEVANT,
    "not_relevant": Relevance.NOT_RELEVANT,
    "cannot_tell": Relevance.UNSURE,
}
"""The verdicts that a machine may answer on a binary scale, by the words it answers with."""

FENCED = str(SchemaFailure.CODE_FENCE)
"""The flaw of an answer that was read out of a code fence."""

_PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_DEFAULT_PLACE = re.compile(r"\{(guidelines|grades|verdicts)\}")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)


class UnfitPrompt(Refused, ValueError):
    message = mark("The prompt needs the place %(name)s")
    remedy = mark("Write it where each call is to say its own.")


class PromptTooLong(UnfitPrompt):
    message = mark("The prompt is too long")
    remedy = mark("It may have %(most)s characters.")


class WrongAnswer(StrEnum):
    """The fault of an answer that is a JSON object, but not one of verdict and reason."""

    OTHER_FIELDS = "other_fields"
    NO_VERDICT = "no_verdict"
    NO_REASON = "no_reason"


EXPLANATIONS: Mapping[str, str] = {
    SchemaFailure.NOT_JSON: mark("The answer is not JSON."),
    SchemaFailure.TRUNCATED: mark("The answer was cut off."),
    SchemaFailure.CODE_FENCE: mark("The answer is inside a code fence that cannot be read."),
    SchemaFailure.EXTRA_TEXT: mark("There is text around the JSON of the answer."),
    SchemaFailure.NOT_AN_OBJECT: mark("The answer is JSON, but not an object."),
    WrongAnswer.OTHER_FIELDS: mark('The answer has other fields than "verdict" and "reason".'),
    WrongAnswer.NO_VERDICT: mark("The verdict in the answer is none of those asked for."),
    WrongAnswer.NO_REASON: mark("The answer gives no reason."),
}
"""The sentence of each fault of an answer, as message ids."""


class UnreadableVerdict(ValueError):
    """An answer without a verdict and a reason; its text is a key of ``EXPLANATIONS``."""


class MachineVerdict(Struct, frozen=True):
    """A machine's verdict and its reason; ``flaw`` is what is wrong with the answer's form."""

    verdict: str
    reason: str
    flaw: str | None = None


def default(guidelines: str, kind: str = Card.kind, scale: Scale = BINARY) -> str:
    """Return the default prompt for a kind of items, with the study's guidelines.

    It explains the grades where these are not just relevant and not relevant properties.
    """
    is_usual = kind == Card.kind and scale.top == 1
    file_name = "prompt.md" if is_usual else "prompt_graded.md"
    text = (resource("templates") / "machine_judges" / file_name).read_text("utf-8")
    words = {verdict: word for word, verdict in answers(scale).items()}
    grades = [f'"{words[str(grade)]}"' for grade in range(scale.top + 1)]
    lines = [f"- {grade}: {_meaning(scale, number)}" for number, grade in enumerate(grades)]
    values = {
        "guidelines": f"\n{guidelines.strip()}\n" if guidelines.strip() else "",
        "grades": "\n".join(lines),
        "verdicts": " or ".join(grades),
    }
    return _DEFAULT_PLACE.sub(lambda place: values[place[1]], text.strip())


def _meaning(scale: Scale, grade: int) -> str:
    """Return the word and guidance of a grade, else its place on the scale."""
    texts = [column[grade] for column in (scale.words, scale.guidance) if column]
    meaning = ": ".join(text for text in texts if text)
    if meaning:
        return meaning
    # Not gettext: a prompt belongs to its judge and must not change with a translation.
    if grade == scale.top:
        return "relevant"
    return "more relevant than the grade below" if grade else "not relevant"


def answers(scale: Scale) -> Mapping[str, str]:
    """Return the verdicts that a machine may answer on a scale, by the words it answers with.

    >>> list(answers(Scale(top=2)))
    ['0', '1', '2', 'cannot_tell']
    """
    if scale.top == 1:
        return VERDICTS
    cannot_tell = str(Relevance.UNSURE)
    return {"cannot_tell" if v == cannot_tell else v: v for v in scale.verdicts}


def check(prompt: str) -> None:
    """Check that a prompt has its places and is not too long; raises ``UnfitPrompt``."""
    if len(prompt) > MAX_PROMPT:
        raise PromptTooLong(most=MAX_PROMPT)
    for name in REQUIRED_PLACES:
        if f"{{{name}}}" not in prompt:
            raise UnfitPrompt(f"{{{name}}}")


def filled(prompt: str, question: str, earlier: Sequence[EarlierTurn], card: Item) -> str:
    """Return a prompt with its places filled; "{card}" in a question is no place.

    >>> from relevansi.kinds.property import Card
    >>> filled("{question} {card}", "{card}?", (), Card("Rumah"))
    '{card}? - Title: Rumah'
    """
    turns = (f"Question: {turn.question}\nAnswer: {turn.response}" for turn in earlier)
    earlier_texts = "\n\n".join(turns) or "(none)"
    values = {"question": question, "earlier": earlier_texts, "card": card.described()}
    return _PLACE.sub(lambda place: values[place[1]], prompt)


def read(answer: str, scale: Scale = BINARY) -> MachineVerdict:
    """Return the verdict in an answer, which must be a JSON object of verdict and reason.

    One code fence around it is removed, and noted as a flaw. Nothing else is repaired or guessed:
    raises ``UnreadableVerdict``.

    >>> read(' {"verdict": "not_relevant", "reason": "Di kota lain."} ').verdict
    <Relevance.NOT_RELEVANT: '0'>
    """
    fence = _FENCE.fullmatch(answer.strip())
    text = (fence[1] if fence else answer).strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise UnreadableVerdict(why_no_json(text, wrong)) from wrong
    if not isinstance(value, dict):
        raise UnreadableVerdict(SchemaFailure.NOT_AN_OBJECT)
    if set(value) != {"verdict", "reason"}:
        raise UnreadableVerdict(WrongAnswer.OTHER_FIELDS)
    verdict, reason = value["verdict"], value["reason"]
    if not isinstance(verdict, str) or verdict not in answers(scale):
        raise UnreadableVerdict(WrongAnswer.NO_VERDICT)
    reason = " ".join(reason.replace("\x00", "").split()) if isinstance(reason, str) else ""
    if not reason:
        raise UnreadableVerdict(WrongAnswer.NO_REASON)
    flaw = FENCED if fence else None
    return MachineVerdict(answers(scale)[verdict], reason[:MAX_REASON], flaw)


def open_items(session: Session, judge: MachineJudge, *but_not: ColumnElement[bool]) -> list[int]:
    """Return the ids of cards without a verdict of the judge, those that people judged first.

    So a few calls already show how far it agrees with people. Within both parts the order is
    random, by the study's secret: the first cards are a sample of all questions.
    """
    study = judge.rater.study
    judged = select(Judgment.judged_item_id).where(Judgment.verdict.is_not(None))
    by_judge = judged.where(Judgment.rater_id == judge.rater_id)
    of_people = Rater.study_id == study.id, Rater.is_machine.is_(False)
    people = judged.join(Rater, Rater.id == Judgment.rater_id).where(*of_people)
    items = select(JudgedItem.id, JudgedItem.id.in_(people)).where(JudgedItem.item_id.is_not(None))
    is_shown = pool.is_shown(study.id, study.pool_depth)
    rows = session.execute(items.where(is_shown, JudgedItem.id.not_in(by_judge), *but_not)).all()

    draw = partial(pool.draw, study.order_secret, Purpose.MACHINE, judge.rater_id)
    in_order = sorted((not is_judged, draw(item_id), item_id) for item_id, is_judged in rows)
    return [item_id for _, _, item_id in in_order]


def prompts_of(
    session: Session, judge: MachineJudge, item_ids: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Yield the judge's prompt for each of these judged items, in their order."""
    earlier_turns = cache(partial(conversations.of_question, session))
    items_with_text = select(JudgedItem, Question.text).join(
        Question, Question.id == JudgedItem.question_id
    )
    for start in range(0, len(item_ids), PORTION):
        portion = item_ids[start : start + PORTION]
        rows = session.execute(items_with_text.where(JudgedItem.id.in_(portion)))
        items = {item.id: (item, text) for item, text in rows}
        for key in portion:
            item, text = items[key]
            turns = earlier_turns(item.run_id, item.question_id) if item.run_id else ()
            yield key, filled(judge.prompt, text, turns, from_row(item.card or {"title": ""}))
