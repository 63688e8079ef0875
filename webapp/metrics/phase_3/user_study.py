"""Phase 3 summed up: the questions and judgments of each participant, and the figures over all.

It is a summary, not a comparison: every participant asks their own questions, so nothing is
paired. A figure over all is the mean over all questions, as everywhere; its interval is over
the participants who asked them (see ``clustered``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from math import fsum
from typing import TYPE_CHECKING

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.comparisons.significance import (
    MIN_UNITS,
    NO_INTERVAL,
    Interval,
    Resampling,
    percentiles,
    times_drawn,
    weighed,
)
from webapp.metrics.judging.figures import HEADLINES, MEANS, Figure, QueryRow, Sum, Totals, figures
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.usability import UsabilitySummary, usability_summary
from webapp.records import CannotTell, Card, QueryState, Relevance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TOO_FEW_CLUSTERS = mark(
    "Fewer than two participants have a value: nothing says how far others would differ."
)
"""Why a figure has no interval, as a message id."""


class ClusteredMean(Struct, frozen=True):
    """A mean over all questions, with the interval over the people who asked them.

    ``clusters`` counts the participants who have a value, ``n`` their values.
    """

    value: float | None
    interval: Interval
    clusters: int
    n: int

    @property
    def why_no_interval(self) -> str | None:
        """The reason there is no interval, as a message id; ``None`` when there is one."""
        return TOO_FEW_CLUSTERS if self.interval.lower is None else None


def clustered_mean(clusters: Sequence[Sum], resampling: Resampling) -> ClusteredMean:
    """The mean over all values, with its percentile interval by a bootstrap over clusters.

    ``M = sum of t_i / sum of n_i``: *t_i* the total of participant *i*'s values, *n_i* how
    many there are, so each question weighs the same. A resample draws as many participants as
    there are, with replacement, each with all their values, and is ``M`` of those. Somebody
    without a value is not a cluster. No values at all have no mean, fewer than two participants
    no interval. Where each has one value it is the bootstrap over values, draw for draw.

    >>> clustered_mean([Sum(1.5, 2), Sum(0.5, 2)], Resampling(resamples=100))
    ClusteredMean(value=0.5, interval=Interval(lower=0.25, upper=0.75, left_out=0), clusters=2, n=4)
    >>> clustered_mean([Sum(3.0, 4), Sum()], Resampling()).interval.lower is None
    True
    """
    present = [cluster for cluster in clusters if cluster.n]
    n = sum(cluster.n for cluster in present)
    value = fsum(cluster.total for cluster in present) / n if n else None
    return ClusteredMean(value, _interval(present, resampling), len(present), n)


def _interval(clusters: Sequence[Sum], resampling: Resampling) -> Interval:
    if len(clusters) < MIN_UNITS:
        return NO_INTERVAL
    import numpy as np

    totals = np.array([cluster.total for cluster in clusters], dtype=np.float64)
    counts = np.array([cluster.n for cluster in clusters], dtype=np.float64)
    means: list[NDArray[np.float64]] = [
        weighed(times, totals) / weighed(times, counts)
        for times in times_drawn(len(clusters), resampling)
    ]
    return percentiles(np.concatenate(means), resampling)


FIGURES = tuple(name for name in HEADLINES if name != "composite")
"""The figures of phase 3: all but the composite, which is for comparing with older reports."""


_NOTHING_TO_RATE = {QueryState.FAILED, QueryState.UNREADABLE}


class ParticipantStage(StrEnum):
    """How far a participant has come."""

    INVITED = "invited"
    AGREED = "agreed"
    ASKING = "asking"
    FINISHED = "finished"


class ParticipantCard(Struct, frozen=True):
    """One property that was shown, and the participant's verdict on it; ``None`` is unjudged."""

    rank: int
    card: Card
    verdict: Relevance | None


class OwnAnswer(Struct, frozen=True):
    """A question as it was asked; ``row`` is the answer judged, ``None`` while there is none.

    ``number`` counts the participant's questions from 1. ``state`` is the question's: waiting,
    asking, interrupted, failed, answered, given up.
    """

    number: int
    question: str
    category: str
    conversation: int
    state: str
    asked_at: datetime
    answered_at: datetime | None
    response: str
    row: QueryRow | None
    cards: tuple[ParticipantCard, ...]

    @property
    def asks_for_a_rating(self) -> bool:
        """Whether there is an answer to rate: not after a failed call, nor if unreadable."""
        return self.row is not None and self.row.summary.state not in _NOTHING_TO_RATE

    @property
    def is_rated(self) -> bool:
        """Whether there is an answer to rate, with every verdict and its quality given."""
        if self.row is None or not self.asks_for_a_rating:
            return False
        return self.row.summary.complete and not self.row.summary.is_unrated


class Comment(Struct, frozen=True):
    """Something a participant wrote: "note 3" on a question, or "helped" and "missing"."""

    name: str
    text: str
    themes: tuple[str, ...]
    question: str = ""


class Person(Struct, frozen=True):
    """A participant by pseudonym, with all they gave; ``consent`` is the version agreed to."""

    id: int
    number: int
    pseudonym: str
    consent: int | None
    agreed_at: datetime | None
    finished_at: datetime | None
    questions_left: int
    answers: tuple[OwnAnswer, ...]
    usability: tuple[int | None, ...]
    usability_score: float | Undefined
    comments: tuple[Comment, ...]

    @property
    def stage(self) -> ParticipantStage:
        """How far the participant has come."""
        if self.finished_at is not None:
            return ParticipantStage.FINISHED
        if self.answers:
            return ParticipantStage.ASKING
        return ParticipantStage.INVITED if self.agreed_at is None else ParticipantStage.AGREED

    @property
    def rows(self) -> tuple[QueryRow, ...]:
        """The questions that got an answer or were given up."""
        return tuple(answer.row for answer in self.answers if answer.row is not None)

    @property
    def n_rated(self) -> int:
        """How many answers are rated in full."""
        return sum(answer.is_rated for answer in self.answers)

    @property
    def n_to_rate(self) -> int:
        """How many answers ask for a rating, rated ones among them."""
        return sum(answer.asks_for_a_rating for answer in self.answers)

    @property
    def n_failed(self) -> int:
        """How many questions were left after their call failed."""
        return sum(row.summary.state is QueryState.FAILED for row in self.rows)

    @property
    def n_unreadable(self) -> int:
        """How many answers could not be read."""
        return sum(row.summary.state is QueryState.UNREADABLE for row in self.rows)

    @property
    def totals(self) -> Totals:
        """The totals from which this participant's figures are computed."""
        return Totals.of(row.summary for row in self.rows)

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The headline figures over this participant's own questions."""
        return figures(self.totals)


class CategoryLine(Struct, frozen=True):
    """The questions of one category ("" is none yet) by all participants."""

    category: str
    n_questions: int
    n_people: int
    figures: Mapping[str, ClusteredMean]


class ThemeLine(Struct, frozen=True):
    """The comments under one theme ("" is none yet), each with its participant."""

    theme: str
    n_people: int
    comments: tuple[tuple[Person, Comment], ...]


class UserStudyReport(Struct, frozen=True):
    """All that the pages and files of phase 3 print.

    ``people`` are in the order they came, those invited and yet to agree among them.
    ``declined`` and ``withdrawn`` are counts, all that is left of those. ``judged_until`` is
    when the last judgment was given, ``None`` before the first. ``suggested`` is when participants
    began to be offered a grade, empty if never. ``cannot_tell`` is what such a card is in the
    precisions.
    """

    study: str
    search_method: str
    llm: str
    most_questions: int
    people: tuple[Person, ...]
    declined: int
    withdrawn: int
    judged_until: datetime | None
    settings: Resampling
    version: str
    figures: Mapping[str, ClusteredMean]
    categories: tuple[CategoryLine, ...]
    themes: tuple[ThemeLine, ...]
    usability: UsabilitySummary
    cannot_tell: CannotTell
    suggested: tuple[datetime, ...] = ()

    @property
    def taking_part(self) -> tuple[Person, ...]:
        """Those who agreed."""
        return tuple(person for person in self.people if person.agreed_at is not None)

    @property
    def n_questions(self) -> int:
        """How many questions were asked, those without an answer among them."""
        return sum(len(person.answers) for person in self.people)

    @property
    def n_failed(self) -> int:
        """How many questions were left after their call failed."""
        return sum(person.n_failed for person in self.people)

    @property
    def n_unreadable(self) -> int:
        """How many answers could not be read."""
        return sum(person.n_unreadable for person in self.people)


def clustered_figures(people: Sequence[Totals], settings: Resampling) -> dict[str, ClusteredMean]:
    """The figures over all questions of `people`, one ``Totals`` each, intervals over people.

    A question whose rating is open is in no figure it is open for, as in a figure so far.
    """
    return {name: clustered_mean([_sum(own, name) for own in people], settings) for name in FIGURES}


def by_category(people: Sequence[Person], settings: Resampling) -> tuple[CategoryLine, ...]:
    """The questions by category, most questions first, those without one last."""
    names = {answer.category for person in people for answer in person.answers}
    lines = [_category(people, name, settings) for name in names]
    return tuple(
        sorted(lines, key=lambda line: (not line.category, -line.n_questions, line.category))
    )


def by_theme(people: Iterable[Person]) -> tuple[ThemeLine, ...]:
    """The comments by theme, the largest theme first; a comment is under each theme it has.

    Comments without a theme come last, under "".
    """
    found: dict[str, list[tuple[Person, Comment]]] = {}
    for person in people:
        for comment in person.comments:
            for theme in comment.themes or ("",):
                found.setdefault(theme, []).append((person, comment))
    lines = (
        ThemeLine(theme, len({person.number for person, _ in said}), tuple(said))
        for theme, said in found.items()
    )
    return tuple(sorted(lines, key=lambda line: (not line.theme, -len(line.comments), line.theme)))


def usability_of(people: Iterable[Person]) -> UsabilitySummary:
    """The usability scores of those who answered all ten items, summed up."""
    scores = (person.usability_score for person in people)
    return usability_summary([score for score in scores if not isinstance(score, Undefined)])


def _sum(totals: Totals, figure: str) -> Sum:
    if figure == "coverage":
        return Sum(totals.n_with_results, totals.n_counted)
    return totals.sums[MEANS[figure]]


def _category(people: Sequence[Person], name: str, settings: Resampling) -> CategoryLine:
    own = [[a for a in person.answers if a.category == name] for person in people]
    totals = [Totals.of(a.row.summary for a in answers if a.row) for answers in own]
    return CategoryLine(
        category=name,
        n_questions=sum(map(len, own)),
        n_people=sum(1 for answers in own if answers),
        figures=clustered_figures(totals, settings),
    )
