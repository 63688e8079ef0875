"""A run as it goes into a file that is rated without a server, and which run such a file is of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.metadata import version

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.offline.page import OfflineCard, OfflineQuestion, OfflineRun, OfflineTurn
from relevansi.i18n import LANGUAGES
from relevansi.kinds import listed_item
from relevansi.kinds.property import CardParticulars
from relevansi.metrics.judging.graded import headline_of
from relevansi.records import Item, QueryState, Scale
from relevansi.services.judging import reasons, verdicts
from relevansi.services.judging.judged_items import blind_identity_of, identity_of
from relevansi.services.rating import particulars
from relevansi.services.runs import reports, runs
from relevansi.services.study import studies

_LONGEST_NAME = 60


def offline_run(session: Session, study: Study, run_id: str) -> OfflineRun:
    """Return a run to be rated from a file; where the study is blind, without its labels.

    Ratings given already are not in it. Raises ``UnknownRun``.
    """
    run = runs.find(session, study, run_id)
    blind, top = studies.is_blind(session, study), Scale.stored(study.scale).top
    suggests = bool(study.suggest_quality) if blind else study.suggest_quality is not False
    return OfflineRun(
        identity=run.session_key,
        name=run.session_key[:8] if blind else _name(run),
        questions=tuple(_questions(session, study, run, blind=blind)),
        blind=blind,
        search_method=None if blind else run.search_method,
        llm=None if blind else run.llm,
        version=version("relevansi"),
        unasked=reports.unasked(session, run.id),
        suggests=top == 1 and suggests,
        cannot_tell=study.cannot_tell,
        headline=headline_of(study),
        marks_words=study.marks_words,
        top=top,
        reasons=reasons.offered(study.kind, study.reasons),
        guidelines={code: studies.guidelines(study, code) for code in LANGUAGES},
    )


def _name(run: Run) -> str:
    """Return a name for the file, of signs that every file system takes."""
    labels = "_".join(filter(None, (run.search_method, run.llm, run.timestamp)))
    return re.sub(r"[^A-Za-z0-9_-]+", "_", labels).strip("_")[:_LONGEST_NAME] or run.session_key[:8]


def _questions(
    session: Session, study: Study, run: Run, *, blind: bool
) -> Iterator[OfflineQuestion]:
    conversation: list[OfflineTurn] = []
    in_run = Query.run_id == run.id
    answers = particulars.of_run(session, run, in_run, with_record=study.show_record)
    particulars_by_query = {answer.id: cards for answer, _, cards in answers}
    holes = verdicts.holes(session, in_run)
    left_out = set(reports.unasked(session, run.id))
    items = selectinload(Query.results).joinedload(Result.judged_item)
    rows = select(Query).where(in_run).order_by(Query.id)
    queries = rows.options(joinedload(Query.question), items.joinedload(JudgedItem.item))
    for query in session.scalars(queries):
        question = query.question
        if not question.context_dependent:
            conversation = []
        turns = tuple(conversation)
        turn = OfflineTurn(query.query_id, question.text, query.response)
        conversation = [*conversation, turn]
        if query.query_id in left_out:
            continue  # only as a turn before the questions that follow it
        cards = _cards(query, particulars_by_query[query.id], blind=blind)
        details = [card.particulars for card in cards]
        yield OfflineQuestion(
            **fields(query, "query_id", "response", "error", "asks_quality"),
            **fields(question, "category", "context_dependent"),
            question=question.text,
            state=QueryState(query.state),
            note=question.note or "",
            turns=turns,
            cards=cards,
            shared=particulars.shared_facts([card.card for card in cards], details),
            holes=() if blind else holes.get(query.id, ()),
        )


def _cards(
    query: Query, particulars_by_rank: Mapping[int, CardParticulars], *, blind: bool
) -> tuple[OfflineCard, ...]:
    ranks: defaultdict[int, list[int]] = defaultdict(list)
    for result in query.results:
        ranks[result.judged_item.id].append(result.rank)
    numbers = {item: number for number, item in enumerate(ranks)}
    # An id of a document may tell its system, so blind raters get a hash of it.
    identity = blind_identity_of if blind else identity_of
    has_prices = any(result.card.get("price") for result in query.results)
    return tuple(
        OfflineCard(
            number=result.rank,
            card=_card(result, blind=blind),
            item_number=numbers[result.judged_item.id],
            identity=identity(result),
            repeats=tuple(r for r in ranks[result.judged_item.id] if r != result.rank),
            particulars=particulars_by_rank.get(result.rank),
            has_prices=has_prices,
        )
        for result in query.results
    )


def _card(result: Result, *, blind: bool) -> Item:
    card = listed_item(result.card, result.judged_item.card)
    return card.uniform(None) if blind and card.of_one_run is not None else card
