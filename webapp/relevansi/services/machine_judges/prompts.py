"""A machine judge's prompts, and the reading of its answers.

A prompt is a text with three places: {question}, {earlier} and {card}. The texts that fill
them never name the run, search method or LLM that found the property.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from math import ceil

from msgspec import Struct
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from relevansi.config import resource
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Question
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.kinds.property import Card
from relevansi.metrics.evaluations.json_answers import SchemaFailure, why_no_json
from relevansi.records import BINARY, Item, Relevance, Scale
from relevansi.services.judging.judged_items import PORTION
from relevansi.services.rating import pages, pool
from relevansi.services.rating.pages import EarlierTurn
from relevansi.services.rating.pool import Purpose

LONGEST_PROMPT = 20_000
LONGEST_REASON = 500
PLACES = ("question", "earlier", "card")
NEEDED = ("question", "card")
VERDICTS: Mapping[str, str] = {
    "relevant": Relevance.RELEVANT,
    "not_relevant": Relevance.NOT_RELEVANT,
    "cannot_tell": Relevance.UNSURE,
}
"""What a machine may say on a binary scale, and the verdict that it is."""
FENCED = str(SchemaFailure.CODE_FENCE)
"""The flaw of an answer that was read out of a code fence."""
_PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_OWN_PLACE = re.compile(r"\{(guidelines|grades|verdicts)\}")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)


class UnfitPrompt(Refused, ValueError):
    message = mark("The prompt needs the place %(name)s")
    remedy = mark("Write it where each call is to say its own.")


class PromptTooLong(UnfitPrompt):
    message = mark("The prompt is too long")
    remedy = mark("It may have %(most)s characters.")


class WrongAnswer(StrEnum):
    """The fault of an answer that is JSON, but not the JSON that was asked for."""

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
"""Why an answer could not be read, in words, as message ids."""


class UnreadableVerdict(ValueError):
    """An answer that is not the JSON asked for; its text is one of ``EXPLANATIONS``."""


class MachineVerdict(Struct, frozen=True):
    """A machine's verdict and its reason; ``flaw`` is what is wrong with the answer's form."""

    verdict: str
    reason: str
    flaw: str | None = None


def default(guidelines: str, kind: str = Card.kind, scale: Scale = BINARY) -> str:
    """Return the prompt that a judge of a kind of items begins with.

    The study's guidelines are in it, and its grades where it is not about relevant properties.
    """
    is_usual = kind == Card.kind and scale.top == 1
    name = "prompt.md" if is_usual else "prompt_graded.md"
    text = (resource("templates") / "machine_judges" / name).read_text("utf-8")
    answer_of = {verdict: name for name, verdict in answers(scale).items()}
    names = [f'"{answer_of[str(grade)]}"' for grade in range(scale.top + 1)]
    lines = zip(names, _meanings(scale), strict=True)
    values = {
        "guidelines": f"\n{guidelines.strip()}\n" if guidelines.strip() else "",
        "grades": "\n".join(f"- {name}: {meaning}" for name, meaning in lines),
        "verdicts": " or ".join(names),
    }
    return _OWN_PLACE.sub(lambda place: values[place[1]], text.strip())


def _meanings(scale: Scale) -> Iterator[str]:
    """What each grade means, from 0 up: its word and guidance, else its place on the scale."""
    # Not gettext: the words belong to the version of a judge and must not change with ours.
    for grade in range(scale.top + 1):
        texts_by_grade = [texts[grade] for texts in (scale.words, scale.guidance) if texts]
        place = "not relevant" if not grade else "more relevant than the grade below"
        place = "relevant" if grade == scale.top else place
        yield ": ".join(text for text in texts_by_grade if text) or place


def answers(scale: Scale) -> Mapping[str, str]:
    """Return what a machine may say on a scale, and the verdict that it is.

    >>> list(answers(Scale(top=2)))
    ['0', '1', '2', 'cannot_tell']
    """
    if scale.top == 1:
        return VERDICTS
    cannot_tell = str(Relevance.UNSURE)
    return {"cannot_tell" if v == cannot_tell else v: v for v in scale.verdicts}


def check(prompt: str) -> None:
    """Return if a prompt can be used; raises ``UnfitPrompt``."""
    if len(prompt) > LONGEST_PROMPT:
        raise PromptTooLong(most=LONGEST_PROMPT)
    for name in NEEDED:
        if f"{{{name}}}" not in prompt:
            raise UnfitPrompt(f"{{{name}}}")


def filled(prompt: str, question: str, earlier: Sequence[EarlierTurn], card: Item) -> str:
    """Return a prompt with its places filled, in one pass: no text can open another place.

    >>> from relevansi.kinds.property import Card
    >>> filled("{question} {card}", "{card}?", (), Card("Rumah"))
    '{card}? - Title: Rumah'
    """
    turns = (f"Question: {turn.question}\nAnswer: {turn.response}" for turn in earlier)
    earlier_texts = "\n\n".join(turns) or "(none)"
    values = {"question": question, "earlier": earlier_texts, "card": card.described()}
    return _PLACE.sub(lambda place: values[place[1]], prompt)


def read(answer: str, scale: Scale = BINARY) -> MachineVerdict:
    """Return the verdict in an answer, the whole of it being the JSON asked for on a scale.

    One code fence around it is taken off, which the verdict notes. Raises
    ``UnreadableVerdict``: nothing is guessed.

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
    return MachineVerdict(answers(scale)[verdict], reason[:LONGEST_REASON], flaw)


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
    """The estimated tokens for ``n_cards`` cards; ``example`` is the prompt of the first."""

    n_cards: int
    prompt_tokens: int
    completion_tokens: int
    measured: int
    example: str


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
    item_ids = open_items(session, judge)[:most]
    per_token = rates(session, judge)
    characters, example = 0, ""
    for _, prompt in prompts_of(session, judge, item_ids):
        characters, example = characters + len(prompt), example or prompt
    n = len(item_ids)
    tokens = per_token.prompt(characters), ceil(n * per_token.completion)
    return TokenEstimate(n, *tokens, per_token.measured, example)


def open_items(session: Session, judge: MachineJudge, *but_not: ColumnElement[bool]) -> list[int]:
    """Return the cards without a verdict of the judge; those that people judged come first.

    So a small budget shows how far it agrees with them. Within both parts the order is
    shuffled by the study's secret: the cards within a budget are a sample of all questions.
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
    earlier_turns = cache(partial(pages.of_question, session))
    every = select(JudgedItem, Question.text).join(Question, Question.id == JudgedItem.question_id)
    for start in range(0, len(item_ids), PORTION):
        portion = item_ids[start : start + PORTION]
        rows = session.execute(every.where(JudgedItem.id.in_(portion)))
        items = {item.id: (item, text) for item, text in rows}
        for key in portion:
            item, text = items[key]
            turns = earlier_turns(item.run_id, item.question_id) if item.run_id else ()
            yield key, filled(judge.prompt, text, turns, from_row(item.card or {"title": ""}))


def rates(session: Session, judge: MachineJudge) -> Rates:
    """Return the tokens that the judge's prompts and answers took so far, else the assumed ones."""
    call = MachineCall
    tokens = func.sum(call.prompt_tokens), func.sum(call.completion_tokens)
    is_measured = call.prompt_tokens.is_not(None), call.completion_tokens.is_not(None)
    sums = select(func.count(), func.sum(call.prompt_characters), tokens[0], tokens[1])
    measured = sums.where(call.rater_id == judge.rater_id, *is_measured)
    n, characters, prompt, completion = session.execute(measured).one()
    if n < FEWEST_MEASURED or not characters or not prompt:
        return Rates()
    # PostgreSQL sums whole numbers as decimals.
    return Rates(int(prompt) / int(characters), int(completion or 0) / n, n)
