"""Machine judges: models with a prompt that judge as raters of their own, marked as machines.

A judge is never altered: another model or another prompt is another judge. Its verdicts
are in no figure of people, and no figure of its own may be chosen before its owner has seen how
far it agrees with people and released it (see ``beside_people``).

A machine is compared with the adjudicated verdict on a card, else that of the majority of people.
"Cannot tell" is a verdict in the table and missing in every coefficient, as between people
(decision 0016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from msgspec import Struct
from sqlalchemy import Row, exists, func, select
from sqlalchemy.orm import Session, contains_eager

from relevansi.chatbot.client import UnusableAddress, full_address, public_address
from relevansi.config import JudgeEndpoint
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.metrics.agreement.agreement import Agreement
from relevansi.metrics.agreement.report import ItemKind, measure
from relevansi.records import Item, Relevance, Scale
from relevansi.services.judging import stored_summaries, verdicts
from relevansi.services.machine_judges import prompts
from relevansi.services.people import raters
from relevansi.services.runs.reports import UnknownRater, in_study
from relevansi.services.study import studies

PATH = "/chat/completions"
LANGUAGE = "en"
"""The language of prompts, except for the words of the study and of its cards."""


class NotConfigured(Conflict):
    message = mark("No endpoint for a machine judge is configured")
    remedy = mark("The page under Study, Machine judges, says how to configure one.")
    command_remedy = mark(
        "Set RELEVANSI_JUDGE_URL and RELEVANSI_JUDGE_MODEL (docs/machine-judge.md)."
    )


class UnusableEndpoint(Refused):
    """The configured endpoint is not an address; it may hold a password and is not repeated."""

    message = mark("RELEVANSI_JUDGE_URL is not an http or https address")
    remedy = mark("Correct it, then start Relevansi again.")
    command_remedy = mark("Correct it (docs/machine-judge.md).")


class OtherConfiguration(Conflict):
    """The configured endpoint or model is not the judge's; the argument is the judge's."""

    message = mark("This judge is %(name)s; another endpoint or model is configured")
    remedy = mark("Configure its own again, or make a new machine judge with the other model.")


class OtherLanguage(Conflict):
    """The judge has a prompt in a language that is not supported any more."""

    message = mark("%(name)s was asked in Indonesian; machine judges are asked in English now")
    remedy = mark("Its verdicts stay. Make a new machine judge to go on.")


def address(endpoint: JudgeEndpoint) -> str:
    """Return the full address of the endpoint; raises ``UnusableEndpoint``."""
    try:
        return full_address(endpoint.url, PATH)
    except UnusableAddress:
        raise UnusableEndpoint from None


def make(
    session: Session, study: Study, name: str, endpoint: JudgeEndpoint, prompt: str, now: datetime
) -> MachineJudge:
    """Return a new machine judge with the configured model and this prompt, logged.

    Raises ``UnfitPrompt``, ``NameTaken`` and ``UnusableEndpoint``.
    """
    prompt = prompt.replace("\r\n", "\n").strip()
    prompts.check(prompt)
    if raters.find_named(session, study, name) is not None:
        raise raters.NameTaken(name)
    digest = sha256(prompt.encode()).hexdigest()
    judge = MachineJudge(model=endpoint.model, prompt=prompt, prompt_sha256=digest, created_at=now)
    judge.rater = Rater(study=study, name=name, is_machine=True, created_at=now)
    judge.endpoint, judge.temperature = public_address(address(endpoint)), 0.0
    session.add(judge)
    session.flush()
    # A rater without summaries would be missing from every report until the first verdict.
    stored_summaries.refresh(session, [judge.rater_id], in_study(study))
    log(session, judge, "make machine judge", f"{name}: {judge.model}, prompt {digest}", now)
    return judge


def usual_prompt(study: Study) -> str:
    """Return the default prompt of the study, with its guidelines and scale."""
    guidelines = studies.guidelines(study, LANGUAGE)
    return prompts.default(guidelines, study.kind, Scale.stored(study.scale))


def find(session: Session, study: Study, rater_id: int) -> MachineJudge:
    """Return a machine judge of the study; raises ``UnknownRater``."""
    judge = session.get(MachineJudge, rater_id)
    if judge is None or judge.rater.study_id != study.id:
        raise UnknownRater(rater_id)
    return judge


def find_machine(session: Session, study: Study, name: str) -> Rater:
    """Return the machine of that name, which may have no configuration; raises ``UnknownRater``."""
    rater = raters.find_named(session, study, name)
    if rater is None or not rater.is_machine:
        raise UnknownRater(name)
    return rater


def find_judge(session: Session, study: Study, name: str) -> MachineJudge:
    """Return the machine judge of that name; raises ``UnknownRater``."""
    return find(session, study, find_machine(session, study, name).id)


def of_study(session: Session, study: Study) -> Sequence[Row[MachineJudge, int, bool]]:
    """Return the study's machine judges, the newest first: what they judged, whether at work."""
    judge_id, judged = MachineJudge.rater_id, Judgment.verdict.is_not(None)
    n_judged = select(func.count()).where(Judgment.rater_id == judge_id, judged)
    is_running = exists().where(
        MachineSession.rater_id == judge_id, MachineSession.ended_at.is_(None)
    )
    rows = select(MachineJudge, n_judged.scalar_subquery(), is_running).join(MachineJudge.rater)
    of_study = rows.where(Rater.study_id == study.id).options(contains_eager(MachineJudge.rater))
    return session.execute(of_study.order_by(judge_id.desc())).all()


def fits(judge: MachineJudge, endpoint: JudgeEndpoint) -> bool:
    """Whether the configured endpoint and model are those of the judge."""
    return (public_address(address(endpoint)), endpoint.model) == (judge.endpoint, judge.model)


MIN_SHARED = 20
"""The number of cards both must have decided before the machine's figures may be used."""


class TooLittleShared(Conflict):
    """Machine and people decided too few of the same cards; the argument is how many."""

    message = mark("Machine and people have decided too few of the same cards")
    remedy = mark("Nothing was changed. Its page of agreement says how many are needed.")


class SharedCard(Struct, frozen=True):
    """One card that the machine and people judged, with the machine's reason."""

    position: int
    question: str
    card: Item
    machine: str
    people: str
    reason: str

    @property
    def is_apart(self) -> bool:
        """Whether both decided, and differently."""
        return self.machine != self.people and Relevance.UNSURE not in (self.machine, self.people)


class BesidePeople(Struct, frozen=True):
    """The cards that a machine and people both judged; coefficients are over those both decided.

    ``table`` counts cards by the machine's and people's verdict, ``people`` has the agreement with
    each person by name. Above a binary scale there are weighted kappas too.
    """

    table: Mapping[tuple[str, str], int]
    agreement: Agreement
    people: tuple[tuple[str, Agreement], ...]
    cards: tuple[SharedCard, ...]
    machine_judged: int

    @property
    def n(self) -> int:
        return self.agreement.raw.n

    @property
    def may_release(self) -> bool:
        return self.n >= MIN_SHARED


def beside_people(session: Session, study: Study, judge: MachineJudge) -> BesidePeople:
    """Return how far a machine judge agrees with the study's people."""
    scope = in_study(study)
    people = studies.raters(session, study)
    by_machine = verdicts.of_rater(session, scope, judge.rater_id).by_item
    merged = verdicts.adjudicated(session, scope, people).by_item
    by_rater = verdicts.by_rater(session, scope, [rater.id for rater in people])
    scale = Scale.stored(study.scale)
    shared = by_machine.keys() & merged.keys()
    agreements = []
    for rater in people:
        by_person = by_rater[rater.id].by_item
        if by_machine.keys() & by_person.keys():
            agreements.append((rater.name, _agreement(by_machine, by_person, scale)))
    return BesidePeople(
        table=Counter((by_machine[item_id], merged[item_id]) for item_id in shared),
        agreement=_agreement(by_machine, merged, scale),
        people=tuple(agreements),
        cards=_cards(session, judge, by_machine, merged),
        machine_judged=len(by_machine),
    )


def release(
    session: Session, judge: MachineJudge, now: datetime, *, is_released: bool = True
) -> None:
    """Let people choose the judge's figures, or withdraw them, logged with present n and kappa.

    Raises ``TooLittleShared``.
    """
    comparison = beside_people(session, judge.rater.study, judge)
    if is_released and not comparison.may_release:
        raise TooLittleShared(comparison.n)
    if (judge.released_at is not None) != is_released:
        judge.released_at = now if is_released else None
        weighted = comparison.agreement.quadratic
        kappa = (weighted or comparison.agreement.cohen).value
        name = "quadratic kappa" if weighted else "kappa"
        summary = f"n = {comparison.n}, {name} = {'-' if kappa is None else format(kappa, '.4f')}"
        action = "release machine judge" if is_released else "withdraw machine judge"
        log(session, judge, action, summary, now)


def log(session: Session, judge: MachineJudge, action: str, text: str, now: datetime) -> None:
    """Write an action on a judge into the study's log."""
    subject = studies.rater_subject(judge.rater)
    studies.log(session, judge.rater.study, action, subject, None, text, now)


def _agreement(
    by_machine: Mapping[int, str], by_person: Mapping[int, str], scale: Scale
) -> Agreement:
    shared = by_machine.keys() & by_person.keys()
    pairs = ((scale.grade(by_machine[key]), scale.grade(by_person[key])) for key in shared)
    return measure(pairs, ItemKind.CARDS, scale.top)


def _cards(
    session: Session, judge: MachineJudge, by_machine: Mapping[int, str], merged: Mapping[int, str]
) -> tuple[SharedCard, ...]:
    rows = session.execute(
        select(JudgedItem, Question, MachineCall.reason)
        .join(Question, Question.id == JudgedItem.question_id)
        .join(MachineCall, MachineCall.judged_item_id == JudgedItem.id)
        .where(MachineCall.rater_id == judge.rater_id)
        .order_by(Question.question_set_id, Question.position, JudgedItem.id)
    )
    cards = [
        SharedCard(
            position=question.position,
            question=question.text,
            card=from_row(item.card or {"title": ""}),
            machine=by_machine[item.id],
            people=merged[item.id],
            reason=reason,
        )
        for item, question, reason in rows
        if item.id in by_machine and item.id in merged
    ]
    # Disagreements first, then "cannot tell" against a verdict, then agreements.
    return tuple(sorted(cards, key=lambda card: (not card.is_apart, card.machine == card.people)))
