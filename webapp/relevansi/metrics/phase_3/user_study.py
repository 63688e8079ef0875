"""Phase 3 summed up: the questions and judgments of each participant, and the figures over all.

It is a summary, not a comparison: every participant asks their own questions, so nothing is
paired. A figure over all is the mean over all questions, as everywhere; its interval is over
the participants who asked them.

How usable the chatbot was to them is the System Usability Scale: Brooke (1996), SUS: A "quick
and dirty" usability scale. In: Jordan et al. (eds.), Usability Evaluation in Industry, 189-194.
An Indonesian version was found reliable (Cronbach's alpha 0.841) by Sharfina & Santoso (2016),
An Indonesian Adaptation of the System Usability Scale (SUS), ICACSIS; the Indonesian wording
here is our own translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from math import fsum, sqrt

from msgspec import Struct

from relevansi.i18n import mark
from relevansi.kinds.property import Card
from relevansi.metrics.comparisons.differences import highest_value
from relevansi.metrics.intervals import NO_INTERVAL, Interval, estimate_interval
from relevansi.metrics.judging.figures import HEADLINES, Figure, QueryRow, Sum, Totals, figures
from relevansi.metrics.planning.power import t_quantile
from relevansi.records import CannotTell, QueryState, Relevance

ITEMS = (
    mark("I think that I would like to use this system frequently."),
    mark("I found the system unnecessarily complex."),
    mark("I thought the system was easy to use."),
    mark(
        "I think that I would need the support of a technical person to be able to use this system."
    ),
    mark("I found the various functions in this system were well integrated."),
    mark("I thought there was too much inconsistency in this system."),
    mark("I would imagine that most people would learn to use this system very quickly."),
    mark("I found the system very cumbersome to use."),
    mark("I felt very confident using the system."),
    mark("I needed to learn a lot of things before I could get going with this system."),
)
"""The ten items in their standard wording and order, as message ids."""

LEAST, MOST = 1, 5
"""Strongly disagree and strongly agree."""


def usability_score(answers: Sequence[int | None]) -> float | None:
    """The SUS score of one person, 0 to 100, from the answers (1 to 5) to the ten items.

    ``SUS = 2.5 * (sum of (a - 1) over items 1, 3, 5, 7, 9 + sum of (5 - a) over items 2, 4, 6,
    8, 10)``: *a* the answer to an item; the odd items praise and the even ones complain
    (Brooke 1996). It is not a percentage. An item without an answer leaves no score.

    >>> usability_score([4, 2, 4, 1, 4, 2, 5, 2, 4, 2])
    80.0
    >>> usability_score([4, 2, 4, 1, 4, 2, 5, 2, 4, None]) is None
    True
    """
    scores = [answer for answer in answers if answer is not None]
    if len(scores) < len(ITEMS):
        return None
    praise = sum(answer - LEAST for answer in scores[::2])
    complaint = sum(MOST - answer for answer in scores[1::2])
    return 2.5 * (praise + complaint)


LOWEST, HIGHEST = 0.0, 100.0

ADJECTIVES = (
    (12.5, mark("worst imaginable")),
    (20.3, mark("awful")),
    (35.7, mark("poor")),
    (50.9, mark("OK")),
    (71.4, mark("good")),
    (85.5, mark("excellent")),
    (90.9, mark("best imaginable")),
)
"""The mean score of those who chose each adjective (Bangor et al. 2009), as message ids."""

GRADES = ((90.0, "A"), (80.0, "B"), (70.0, "C"), (60.0, "D"), (LOWEST, "F"))
"""The lowest score of each school grade (Bangor et al. 2009)."""

TOO_FEW_SCORES = mark("Fewer than two people answered all ten items.")


class UsabilitySummary(Struct, frozen=True):
    """The mean of `n` scores with its t interval, the adjective nearest to it and the grade.

    All are ``None`` without a score; the interval is empty of fewer than two. Adjective and
    grade are a rule of thumb for the mean.
    """

    n: int
    mean: float | None
    interval: Interval
    adjective: str | None
    grade: str | None


def usability_summary(scores: Sequence[float], *, confidence: float = 0.95) -> UsabilitySummary:
    """The mean of SUS scores with its two-sided t interval, which ends where the scale ends.

    ``m +- t(n - 1) * s / sqrt(n)``: *m* the mean, *s* the standard deviation of the sample,
    *t* the ``(1 + confidence) / 2`` quantile of Student's distribution. Equal scores have the
    interval of every mean (``intervals``), which is no point.

    >>> found = usability_summary([80.0, 70.0, 75.0])
    >>> found.mean, found.adjective, found.grade
    (75.0, 'good', 'C')
    >>> round(found.interval.lower, 2), round(found.interval.upper, 2)  # 75 +- 4.303 x 5 / 1.732
    (62.58, 87.42)
    """
    n = len(scores)
    if not n:
        return UsabilitySummary(0, None, NO_INTERVAL, None, None)
    mean, interval = fsum(scores) / n, NO_INTERVAL
    if n > 1:
        spread = sqrt(fsum((score - mean) ** 2 for score in scores) / (n - 1))
        reach = t_quantile((1 + confidence) / 2, n - 1) * spread / sqrt(n)
        interval = Interval(max(LOWEST, mean - reach), min(HIGHEST, mean + reach))
        if not spread:
            interval = estimate_interval(mean, 0.0, n, lowest=LOWEST, highest=HIGHEST)
    return UsabilitySummary(n, mean, interval, adjective(mean), grade(mean))


def adjective(mean: float) -> str:
    """The adjective whose mean is nearest to `mean`, as a message id; of two, the lower.

    >>> adjective(61.0), adjective(62.0)  # halfway between OK and good is 61.15
    ('OK', 'good')
    """
    return min(ADJECTIVES, key=lambda entry: abs(entry[0] - mean))[1]


def grade(mean: float) -> str:
    """The school grade of a mean score: A from 90, B from 80, C from 70, D from 60, else F.

    >>> grade(90.0), grade(89.9), grade(12.0)
    ('A', 'B', 'F')
    """
    return next(name for lowest, name in GRADES if mean >= lowest)


TOO_FEW_CLUSTERS = mark(
    "Fewer than two participants have a value: nothing says how far others would differ."
)
"""Why a figure has no interval, as a message id."""


class ClusteredMean(Struct, frozen=True):
    """A mean over all questions, with the interval over the ``clusters`` who have a value."""

    value: float | None
    interval: Interval
    clusters: int
    n: int


def clustered_mean(clusters: Sequence[Sum], *, highest: float = 1.0) -> ClusteredMean:
    """The mean over all values, which lie between 0 and `highest`, with its interval over clusters.

    ``M = sum of t_i / sum of n_i``: *t_i* the total of participant *i*'s values, *n_i* how
    many there are, so each question weighs the same. The units of the interval are the *k*
    participants: it is that of a mean of their linearised values
    ``M + (t_i - n_i M) k / sum of n_i``. Somebody without a value is not a cluster. No values at
    all have no mean, fewer than two participants no interval. Where each has one value it is the
    interval of the values.
    Reference: Cochran (1977), Sampling Techniques, 3rd edition, ch. 6 (ratio estimates).

    >>> found = clustered_mean([Sum(1.5, 2), Sum(0.5, 2)])
    >>> found.value, found.clusters, found.n
    (0.5, 2, 4)
    >>> clustered_mean([Sum(3.0, 4), Sum()]).interval.lower is None
    True
    """
    present = [cluster for cluster in clusters if cluster.n]
    n, k = sum(cluster.n for cluster in present), len(present)
    if not n:
        return ClusteredMean(None, NO_INTERVAL, k, n)
    value = fsum(cluster.total for cluster in present) / n
    variance = fsum((cluster.total - cluster.n * value) ** 2 for cluster in present) * k / n**2
    return ClusteredMean(value, estimate_interval(value, variance, k, highest=highest), k, n)


CLUSTERED_FIGURES = tuple(name for name in HEADLINES if name != "composite")
"""The figures of phase 3: all but the composite, which is for comparing with older reports."""


class ParticipantStage(StrEnum):
    """How far a participant is, as a message id."""

    INVITED = mark("invited")
    AGREED = mark("agreed")
    ASKING = mark("asking")
    FINISHED = mark("finished")


class OwnAnswer(Struct, frozen=True):
    """A question as it was asked; ``row`` is the answer judged, ``None`` while there is none.

    ``number`` counts the participant's questions from 1. ``cards`` are the properties shown: the
    rank of each and the participant's verdict on it, ``None`` if unjudged.
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
    cards: tuple[tuple[int, Card, Relevance | None], ...]

    @property
    def asks_for_a_rating(self) -> bool:
        """Whether there is an answer to rate: not after a failed call, nor if unreadable."""
        nothing_to_rate = {QueryState.FAILED, QueryState.UNREADABLE}
        return self.row is not None and self.row.summary.state not in nothing_to_rate

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
    answers: tuple[OwnAnswer, ...]
    usability: tuple[int | None, ...]
    comments: tuple[Comment, ...]

    @property
    def stage(self) -> ParticipantStage:
        if self.finished_at is not None:
            return ParticipantStage.FINISHED
        if self.answers:
            return ParticipantStage.ASKING
        return ParticipantStage.INVITED if self.agreed_at is None else ParticipantStage.AGREED

    @property
    def usability_score(self) -> float | None:
        """The SUS score, once all ten items are answered."""
        return usability_score(self.usability)

    @property
    def n_rated(self) -> int:
        return sum(answer.is_rated for answer in self.answers)

    @property
    def totals(self) -> Totals:
        return Totals.of(answer.row.summary for answer in self.answers if answer.row)

    @property
    def figures(self) -> Mapping[str, Figure]:
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
    ``withdrawn`` is a count, all that is left of those. ``judged_until`` is when the last judgment
    was given, ``None`` before the first. ``suggested`` is when participants began to be offered a
    grade, empty if never. ``cannot_tell`` is what such a card is in the precisions.
    """

    study: str
    search_method: str
    llm: str
    most_questions: int
    people: tuple[Person, ...]
    withdrawn: int
    judged_until: datetime | None
    version: str
    figures: Mapping[str, ClusteredMean]
    categories: tuple[CategoryLine, ...]
    themes: tuple[ThemeLine, ...]
    usability: UsabilitySummary
    cannot_tell: CannotTell
    suggested: tuple[datetime, ...] = ()

    @property
    def taking_part(self) -> tuple[Person, ...]:
        return tuple(person for person in self.people if person.agreed_at is not None)

    @property
    def n_questions(self) -> int:
        """How many questions were asked, those without an answer among them."""
        return sum(len(person.answers) for person in self.people)

    @property
    def totals(self) -> Totals:
        return Totals.together(person.totals for person in self.people)


def clustered_figures(people: Sequence[Totals]) -> dict[str, ClusteredMean]:
    """The figures over all questions of `people`, one ``Totals`` each, intervals over people."""

    def summed(totals: Totals, figure: str) -> Sum:
        if figure == "coverage":
            return Sum(totals.n_with_results, totals.n_counted)
        return totals.sums[figure].value

    return {
        name: clustered_mean(
            [summed(totals, name) for totals in people], highest=highest_value(name)
        )
        for name in CLUSTERED_FIGURES
    }


def by_category(people: Sequence[Person]) -> tuple[CategoryLine, ...]:
    """The questions by category, most questions first, those without one last."""
    lines = []
    for name in {answer.category for person in people for answer in person.answers}:
        answers_of_people = [[a for a in person.answers if a.category == name] for person in people]
        totals = [
            Totals.of(a.row.summary for a in answers if a.row) for answers in answers_of_people
        ]
        figures = clustered_figures(totals)
        lines.append(
            CategoryLine(
                name, sum(map(len, answers_of_people)), sum(map(bool, answers_of_people)), figures
            )
        )
    return tuple(
        sorted(lines, key=lambda line: (not line.category, -line.n_questions, line.category))
    )


def by_theme(people: Iterable[Person]) -> tuple[ThemeLine, ...]:
    """The comments under each theme they have, the largest first; those without one last."""
    by_theme_name: dict[str, list[tuple[Person, Comment]]] = {}
    for person in people:
        for comment in person.comments:
            for theme in comment.themes or ("",):
                by_theme_name.setdefault(theme, []).append((person, comment))
    lines = (
        ThemeLine(theme, len({person.number for person, _ in comments}), tuple(comments))
        for theme, comments in by_theme_name.items()
    )
    return tuple(sorted(lines, key=lambda line: (not line.theme, -len(line.comments), line.theme)))
