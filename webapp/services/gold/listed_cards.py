"""The cards that constraints are checked on: those in a run's file, else those in its text.

They are counted from 0. A run without a file that lists properties has the cards of its answers'
text; a file may list properties that the text does not show.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from sqlalchemy import exists
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Query, Result
from webapp.importers.gold import listed_properties
from webapp.metrics.gold.constraint_rules import CardFacts
from webapp.metrics.gold.constraints import CardEvaluation
from webapp.records import Card, QueryState
from webapp.services.gold import card_decisions
from webapp.services.gold.card_decisions import Step
from webapp.services.judging.judged_things import from_row


class ShownCard(Struct, frozen=True):
    """A card as a person reads it: its title, its address and its rank in the answer.

    ``rank`` and ``judged_thing`` are ``None`` where the answer's text does not show it.
    """

    title: str
    url: str | None
    rank: int | None
    judged_thing: int | None


class CheckedCard(Struct, frozen=True):
    """One card with its checks and every decision on it, the oldest first."""

    evaluation: CardEvaluation
    shown: ShownCard
    steps: tuple[Step, ...]

    @property
    def in_force(self) -> Mapping[str, Step]:
        """The decision in force on each subject, made on any run's card."""
        last = {step.subject: step for step in self.steps}
        return {place[2]: step for place, step in card_decisions.standing(last.values()).items()}


def are_listed(queries: Iterable[Query]) -> bool:
    """Whether a file lists the properties of a run with these queries."""
    return any(isinstance(query.extra.get("properties"), list) for query in queries)


def facts(queries: Mapping[int, Query]) -> dict[int, tuple[CardFacts, ...]]:
    """Return the facts of every card of a run that constraints check, by question number."""
    if are_listed(queries.values()):
        return {number: _listed(query) for number, query in queries.items()}
    return {
        number: _in_text(query)
        for number, query in queries.items()
        if query.state != QueryState.UNREADABLE
    }


def facts_of_one(session: Session, query: Query) -> tuple[CardFacts, ...]:
    """Return the facts of one query's cards that constraints check."""
    if are_listed([query]) or _is_run_listed(session, query.run_id):
        return _listed(query)
    return () if query.state == QueryState.UNREADABLE else _in_text(query)


def shown(facts: Sequence[CardFacts], query: Query) -> tuple[ShownCard, ...]:
    """Return each listed card with the result that shows it: by slug, in order, else by place."""
    by_slug: defaultdict[str, deque[Result]] = defaultdict(deque)
    for result in query.results:
        by_slug[result.card.get("slug") or ""].append(result)
    found = []
    for position, card in enumerate(facts):
        its = _result(card, position, query.results, by_slug)
        seen = from_row(its.card) if its else None
        found.append(
            ShownCard(
                title=seen.title if seen else card.name,
                url=seen.url if seen else None,
                rank=its.rank if its else None,
                judged_thing=its.judged_thing_id if its else None,
            )
        )
    return tuple(found)


def checked(
    evaluated: Iterable[CardEvaluation], shown: Sequence[ShownCard], steps: Sequence[Step]
) -> tuple[CheckedCard, ...]:
    """Return the cards of one query with their checks and the decisions on each."""
    return tuple(
        CheckedCard(card, shown[index], tuple(step for step in steps if step.card == index))
        for index, card in enumerate(evaluated)
    )


def _is_run_listed(session: Session, run_id: str) -> bool:
    """Whether any query of a run has its properties listed; a list is written with "["."""
    listed = Query.extra["properties"].as_string().startswith("[")
    return bool(session.scalar(exists().where(Query.run_id == run_id, listed).select()))


def _listed(query: Query) -> tuple[CardFacts, ...]:
    return listed_properties.facts_of(query.extra.get("properties") or ())


def _in_text(query: Query) -> tuple[CardFacts, ...]:
    return tuple(_facts_in_text(from_row(result.card)) for result in query.results)


def _facts_in_text(card: Card) -> CardFacts:
    """Return the facts in the text of a card; a price of 0 was none."""
    return CardFacts(
        name=card.title,
        location=card.location or "",
        listing_type=card.listing_type or card.price_note,
        price=_fraction(card.price),
        bedrooms=_fraction(card.bedrooms),
        floors=_fraction(card.floors),
        slug=card.slug,
    )


def _fraction(number: int | None) -> Fraction | None:
    return Fraction(number) if number else None


def _result(
    card: CardFacts,
    position: int,
    results: Sequence[Result],
    by_slug: Mapping[str, deque[Result]],
) -> Result | None:
    same = by_slug.get(card.slug) if card.slug else None
    if same:
        return same.popleft()
    there = results[position] if position < len(results) else None
    slug = there.card.get("slug") if there else None
    return there if there and not (card.slug and slug) else None
