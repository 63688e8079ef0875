"""The sentences of a comparison: one place for the page and every report of it.

Each says what its own line's test found at its own level, in words with one meaning: a run is
"ahead" where the difference is significant after Holm; two runs are "equal" where no question
differs; what the test does not reject is "no difference shown". That open verdicts cannot change
an order is said by the settled orders alone: "order fixed". A run that lacks something is said to
lack it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime

from relevansi import labels, notation
from relevansi.exporters.comparisons.figure_names import (
    difference_name,
    difference_unit,
    figure_name,
)
from relevansi.exporters.exports.metrics_tables import blindness_sentence
from relevansi.exporters.planning import plan
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.comparisons.comparisons import Comparison, ComparisonReport, Contender
from relevansi.metrics.comparisons.differences import MCNEMAR, Difference, RunDifferences
from relevansi.metrics.comparisons.stability import Stability, Variation, VariedPart
from relevansi.metrics.intervals import CONFIDENCE, LEVEL
from relevansi.metrics.judging.figures import COMPOSITE_WEIGHTS, HEADLINES, figures
from relevansi.metrics.judging.queries import Undefined, why_undefined
from relevansi.metrics.judging.registry import Unit

MOST_NAMED = 12
"""So many positions are listed one by one; of more, the rest is counted."""

TITLES = {
    1: mark("Phase 1: search methods compared"),
    2: mark("Phase 2: LLMs compared"),
    None: mark("Comparison of runs"),
}
CHANGES = {
    VariedPart.RATER: mark("One rater left out"),
    VariedPart.RULE: mark("Another rule for merging raters"),
    VariedPart.CUTOFF: mark("Another K of precision@K"),
    VariedPart.CATEGORY: mark("One category left out"),
    VariedPart.QUESTION: mark("One question left out"),
    VariedPart.EMPTIES: mark("Empty lists counted another way"),
    VariedPart.CONVERSATION: mark("Each conversation counted as one"),
}
BADGED = mark("Constraint badges on the cards were switched on for blind raters on %(times)s.")
RECORD_SHOWN = mark(
    "What only the record of a listing knows was switched on for raters on %(times)s."
)
SUGGESTED = mark(
    "A grade suggested from their verdicts was switched on for blind raters and participants on "
    "%(times)s."
)
COMPOSITE_NOTE = mark(
    "The composite of the original comparison, 0.4 Precision@5 + 0.3 MRR + 0.2 "
    "success rate + 0.1 coverage, is given so that older reports can be compared. "
    "It decides nothing: its weights are a convention and it is not tested."
)


def byline(report: ComparisonReport, on: date) -> str:
    """Return the day of the report, its raters by their initials, and what was compared."""
    comparison, parts = report.comparison, [f"{notation.day(on)}."]
    if report.files:
        parts.append(gettext("From rated files."))
    elif report.raters:
        initials = ", ".join(f"{name[:1].upper()}." for name, _ in report.raters)
        parts.append(gettext("Raters: %(raters)s", raters=initials))
    counts = [
        ngettext("%(n)s question", "%(n)s questions", len(comparison.questions)),
        ngettext("%(n)s run", "%(n)s runs", len(comparison.contenders)),
    ]
    if "settled" in report.parts:
        n = report.parts["settled"].value.judged_items
        items = ngettext(
            "%(n)s distinct card or empty list", "%(n)s distinct cards and empty lists", n
        )
        counts.append(items)
    return " ".join([*parts, f"{', '.join(counts)}."])


def provisional(report: ComparisonReport) -> str:
    """Return that a report is provisional, and how far all is rated."""
    if report.state is None:
        return gettext("Provisional report")
    return gettext("Provisional report: %(state)s", state=labels.state(report.state))


def finding(comparison: RunDifferences, difference: Difference, *, is_same_pair: bool) -> str:
    """Return a significant difference in a sentence, shorter of the pair of the one before."""
    unit, mean = difference_unit(difference), difference.mean or 0
    lower, upper = difference.interval.lower, difference.interval.upper
    if mean < 0 and lower is not None and upper is not None:
        lower, upper = -upper, -lower
    details = {
        "figure": difference_name(difference),
        "difference": notation.amount(mean, unit),
        "interval": notation.interval(lower, upper, unit, signed=True),
        "p": notation.p_equals(difference.p_holm),
    }
    if is_same_pair:
        return gettext(
            "On %(figure)s the difference is %(difference)s (%(interval)s; %(p)s).", **details
        )
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    values = [(first, difference.first_value), (second, difference.second_value)]
    if mean < 0:
        values.reverse()
    return ngettext(
        "%(higher)s reaches a mean %(figure)s of %(one)s and %(lower)s %(other)s on the "
        "%(n)s question where both have a value; the difference is %(difference)s (%(share)s "
        "interval %(interval)s; %(p)s after Holm's correction).",
        "%(higher)s reaches a mean %(figure)s of %(one)s and %(lower)s %(other)s on the "
        "%(n)s questions where both have a value; the difference is %(difference)s (%(share)s "
        "interval %(interval)s; %(p)s after Holm's correction).",
        difference.n,
        higher=values[0][0],
        one=notation.figure(values[0][1], unit),
        lower=values[1][0],
        other=notation.figure(values[1][1], unit),
        share=notation.percent(CONFIDENCE),
        **details,
    )


def name_of_test(test: str, *, exact: bool) -> str:
    """Return the name of a test of differences, and whether it tried every way."""
    if test == MCNEMAR:
        return gettext("McNemar, exact")
    return gettext("randomisation, exact") if exact else gettext("randomisation, drawn")


def raters(report: ComparisonReport) -> str:
    """Return the raters with the number of judgments each gave; "nobody yet" without any."""
    shares = (f"{name} ({notation.number(judgments)})" for name, judgments in report.raters)
    return ", ".join(shares) or gettext("nobody yet")


def until(judged: datetime | None) -> str:
    return notation.zoned_moment(judged) if judged else gettext("no verdict yet")


def provenance(report: ComparisonReport) -> str:
    """Return who rated, by which rule, until when and with which version: under every table."""
    files, version = ", ".join(report.files), report.version
    sentence = gettext(
        "Rated by: %(raters)s. Rule: %(rule)s. Verdicts until: %(until)s. Relevansi %(version)s.",
        raters=raters(report),
        rule=labels.rule(report.comparison.rule),
        until=until(report.judged_until),
        version=version,
    )
    if files:
        message = mark("From rated files: %(files)s. Relevansi %(version)s.")
        sentence = gettext(message, files=files, version=version)
    return f"{sentence} {labels.cannot_tell(report.cannot_tell)}".rstrip()


def blindness(report: ComparisonReport) -> str:
    """Return what was judged blind, and since when raters saw facts beyond the cards."""
    sentences = [blindness_sentence(report.blindness) or gettext("No verdict has been given yet.")]
    for message, moments in (
        (BADGED, report.badged),
        (RECORD_SHOWN, report.record_shown),
        (SUGGESTED, report.suggested),
    ):
        if moments:
            sentences.append(since(message, moments))
    times, raters = report.wordings_opened
    if times:
        opened = gettext(
            "In blind rating the wording of answers was opened %(times)s by %(raters)s.",
            times=ngettext("%(n)s time", "%(n)s times", times),
            raters=ngettext("%(n)s rater", "%(n)s raters", raters),
        )
        sentences.append(opened)
    elif report.blindness.verdicts.blind or report.blindness.grades.blind:
        sentences.append(gettext("No wording of an answer was opened in blind rating."))
    return " ".join(sentences)


def since(message: str, moments: Sequence[datetime]) -> str:
    """Return the sentence on what was switched on at these times."""
    return gettext(message, times=", ".join(map(notation.zoned_moment, moments)))


def settings() -> str:
    return gettext(
        "Intervals: %(share)s over questions, each of its figure or pair alone; Wilson's for a "
        "figure, Tango's for a paired difference, with the variance of values that are not 0 or "
        "1. Tests: two-sided paired randomisation by question, differences of 0 left out, exact "
        "over all signs; exact two-sided McNemar for the success rate. Holm's correction over the "
        "pairs of runs within each figure.",
        share=notation.percent(CONFIDENCE),
    )


def stability(result: Stability) -> str:
    if not result.tried:
        return gettext("No other way of counting could be tried.")
    tried = notation.number(result.tried)
    if not result.moved:
        return gettext(
            "The order of the runs stays the same in all %(tried)s variations tried.", tried=tried
        )
    return gettext(
        "The order of the runs stays the same in %(same)s of %(tried)s variations tried; in "
        "%(moved)s two runs change places, in %(unseated)s of those another run comes first.",
        same=notation.number(result.tried - result.moved),
        tried=tried,
        moved=notation.number(result.moved),
        unseated=notation.number(result.unseated),
    )


def variation(change: Variation) -> str:
    """Return the name of one variation: its rater, rule, K, category or question."""
    if change.change in {VariedPart.RULE, VariedPart.CATEGORY}:
        is_rule = change.change is VariedPart.RULE
        return labels.rule(change.what) if is_rule else labels.category(change.what)
    if change.change is VariedPart.CUTOFF:
        return f"K = {change.what}"
    if change.change is VariedPart.QUESTION:
        return positions([int(change.what)])
    if change.change is VariedPart.CONVERSATION:
        return gettext("conversations")
    if change.change is VariedPart.EMPTIES and change.what == "counted":
        return gettext("false negatives at 0")
    is_empties = change.change is VariedPart.EMPTIES
    return gettext("empty lists left out") if is_empties else change.what


def order(comparison: Comparison, places: Sequence[Sequence[str]]) -> str:
    """Return run names from the highest value to the lowest, equal ones joined by "="."""
    levels = (" = ".join(comparison.names[run] for run in level) for level in places)
    return " > ".join(levels) or notation.UNDEFINED


def lacks(contender: Contender) -> Iterator[str]:
    """Yield a sentence for each thing a run lacks, so that no gap is read as a bad result."""
    missing = contender.missing

    def placeholders(places: Sequence[int] = ()) -> dict[str, str]:
        return {"name": contender.run.name, "questions": positions(places)}

    if not contender.rated:
        yield gettext(
            "%(name)s is not rated: it has no figures yet and loses to no other run.",
            **placeholders(),
        )
    if places := missing.not_run:
        yield gettext(
            "%(name)s was not asked %(questions)s: no figure of it counts them.",
            **placeholders(places),
        )
    if (places := missing.incomplete) and contender.rated:
        yield gettext(
            "%(name)s waits for verdicts on %(questions)s: its figures are provisional.",
            **placeholders(places),
        )
    if places := missing.unreadable:
        yield ngettext(
            "The answer of %(name)s to %(questions)s could not be read: it is in no denominator.",
            "The answers of %(name)s to %(questions)s could not be read: they are in no "
            "denominator.",
            len(places),
            **placeholders(places),
        )
    if places := missing.failed:
        yield failed_calls(contender.run.name, places)
    if (places := missing.unrated_quality) and contender.rated:
        yield gettext("%(name)s has no quality grade for %(questions)s.", **placeholders(places))
    n_unjudged = contender.totals.n_unjudged
    if n_unjudged and not {*contender.estimates} <= {*HEADLINES}:
        yield ngettext(
            "%(n)s result of %(name)s has no verdict: it has no gain.",
            "%(n)s results of %(name)s have no verdict: they have no gain.",
            n_unjudged,
            name=contender.run.name,
        )


def failed_calls(name: str, places: Sequence[int]) -> str:
    return ngettext(
        "The call of %(name)s for %(questions)s failed: it counts as no success.",
        "The calls of %(name)s for %(questions)s failed: they count as no success.",
        len(places),
        name=name,
        questions=positions(places),
    )


def unasked(comparison: Comparison) -> Iterator[str]:
    if comparison.unasked:
        yield gettext(
            "Not asked, as the study's sample did not draw them: %(questions)s. No figure counts "
            "them, and no run lacks them.",
            questions=positions(comparison.unasked),
        )


def positions(places: Sequence[int]) -> str:
    """Return positions of questions as a list; of many, the first and how many more.

    >>> from relevansi.i18n import speaking
    >>> with speaking("en"):
    ...     positions([3]), positions([3, 7])
    ('question 3', 'questions 3, 7')
    """
    listed = notation.listed(places, MOST_NAMED)
    return ngettext("question %(listed)s", "questions %(listed)s", len(places), listed=listed)


def smallness(comparison: RunDifferences) -> str | None:
    few = [entry.n for entry in comparison.differences if entry.small and entry.n]
    if not few:
        return None
    least, most = notation.number(min(few)), notation.number(max(few))
    pairs = least if least == most else gettext("%(low)s to %(high)s", low=least, high=most)
    return gettext(
        "Small: with %(pairs)s pairs of questions only large differences can show. Where none is "
        "shown the runs need not be equal.",
        pairs=pairs,
    )


def unsaid(report: ComparisonReport) -> Iterator[str]:
    """Yield the figures that rated files cannot give a comparison; nothing for runs of a study."""
    if not report.files:
        return
    yield gettext(
        "A rated file has counts and no verdicts by card. So there is no precision at another K, "
        "no order of the relevant cards beyond the first, no cards that two runs share and no "
        "agreement between raters; who rated, when and whether blind is not in it either."
    )
    for contender in report.comparison.contenders:
        for name in ("mean_precision_at_5", "mrr"):
            reasons = {q.position: why_undefined(q.summary, name) for q in contender.run.queries}
            left_open = [place for place, why in reasons.items() if why is Undefined.LEFT_OPEN]
            if left_open:
                yield gettext(
                    "The counts of %(name)s leave %(figure)s open for %(questions)s: there it has "
                    "no value.",
                    name=contender.run.name,
                    figure=figure_name(name),
                    questions=positions(left_open),
                )


def notes() -> Iterator[str]:
    yield settings()
    yield gettext(
        "n is the number of questions behind a figure. A difference is over the "
        "questions for which both runs have a value; it need not equal the difference "
        "of the two figures, which is given beside it."
    )
    yield gettext(notation.UNDEFINED_NOTE)


def of(comparison: RunDifferences) -> Iterator[Difference]:
    """Yield the differences on the headline figures, false negatives as each figure has them."""
    for difference in comparison.differences:
        at_zero = difference.false_negatives_at_zero and difference.figure != "mrr_answerable"
        if difference.measure is None and not at_zero:
            yield difference


def conclusion(comparison: RunDifferences, difference: Difference) -> str:
    figure, unit = difference_name(difference), difference_unit(difference)
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    if difference.mean is None:
        return gettext(
            "%(figure)s: %(first)s and %(second)s share no question with a value; nothing can be "
            "said about them.",
            figure=figure,
            first=first,
            second=second,
        )
    return " ".join(_conclusion(comparison, difference, difference.mean, unit))


def _conclusion(
    comparison: RunDifferences, difference: Difference, mean: float, unit: Unit
) -> Iterator[str]:
    lower, upper = difference.interval.lower, difference.interval.upper
    if mean < 0:  # the interval is that of the higher run minus the lower
        lower, upper = (None if bound is None else -bound for bound in (upper, lower))
    interval = gettext("too few for an interval")
    if lower is not None and upper is not None:
        interval = gettext(
            "%(share)s interval %(interval)s",
            share=notation.percent(CONFIDENCE),
            interval=notation.interval(lower, upper, unit, signed=True),
        )
    worth = gettext("no difference shown")
    if difference.significant:
        worth = gettext("significant at %(level)s", level=notation.percent(LEVEL))
    tests = f"{notation.p_equals(difference.p)}, Holm {notation.p_value(difference.p_holm)}"
    yield gettext(
        "%(values)s; %(apart)s (%(details)s): %(worth)s.",
        values=paired_values(comparison, difference),
        apart=_apart(comparison, difference),
        details=f"{interval}, {tests}",
        worth=worth,
    )
    if difference.reverses_headline:
        yield gettext(
            "The figures of the two runs are the other way round: each is over all questions of "
            "its run that have a value, the difference only over those both share."
        )
    excludes_0 = lower is not None and upper is not None and not lower <= 0 <= upper
    if excludes_0 and not difference.significant:
        yield gettext(
            "The interval is of this pair alone, without correction: that it leaves out 0 does not "
            "show a difference."
        )
    differs = difference.wins or difference.losses
    if differs and not difference.significant and (limit := plan.shown_by_one(difference)):
        yield limit
    if not comparison.partial.isdisjoint((difference.first, difference.second)):
        yield gettext("Provisional: not everything is rated.")


def _apart(comparison: RunDifferences, difference: Difference) -> str:
    first, second = comparison.names[difference.first], comparison.names[difference.second]
    mean = difference.mean or 0.0
    if not difference.wins and not difference.losses:
        return gettext("%(first)s and %(second)s are equal", first=first, second=second)
    if round(mean, 9) == 0:
        return gettext("%(first)s and %(second)s have the same mean", first=first, second=second)
    higher, lower = (first, second) if mean > 0 else (second, first)
    return gettext(
        "%(higher)s is %(amount)s higher than %(lower)s",
        higher=higher,
        lower=lower,
        amount=notation.amount(mean, difference_unit(difference)),
    )


def paired_values(comparison: RunDifferences, difference: Difference) -> str:
    """Return both runs' values over the questions where both have one, the higher first."""
    unit = difference_unit(difference)
    values = [
        (comparison.names[difference.first], difference.first_value),
        (comparison.names[difference.second], difference.second_value),
    ]
    if (difference.mean or 0) < 0:
        values.reverse()
    (first, first_value), (second, second_value) = values
    return ngettext(
        "%(figure)s over the %(n)s question where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        "%(figure)s over the %(n)s questions where both have a value: %(first)s %(one)s, "
        "%(second)s %(other)s",
        difference.n,
        figure=difference_name(difference),
        first=first,
        one=notation.figure(first_value, unit),
        second=second,
        other=notation.figure(second_value, unit),
    )


def parts_of(contender: Contender) -> dict[str, int]:
    """Return the number of questions behind each part of a run's composite."""
    parts = figures(contender.totals)
    return {name: parts[name].n for name in COMPOSITE_WEIGHTS}


def composite_parts(comparison: Comparison) -> Iterator[str]:
    """Yield for each run the n of every part of its composite."""
    for contender in comparison.contenders:
        ns = parts_of(contender).items()
        parts = ", ".join(f"{figure_name(name)} {notation.number(n)}" for name, n in ns)
        run = contender.run.name
        yield gettext("n of the composite's parts, %(run)s: %(parts)s.", run=run, parts=parts)


def reversed_orders(comparison: RunDifferences) -> Iterator[str]:
    """Yield where the paired values of two runs are in another order than their figures."""
    for difference in of(comparison):
        if difference.reverses_headline:
            values = paired_values(comparison, difference)
            yield gettext("Paired, the order is another: %(values)s.", values=values)
