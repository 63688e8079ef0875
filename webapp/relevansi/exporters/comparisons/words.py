"""The sentences of a comparison on how it was made, what runs lack, and how stable it is.

What a run lacks is stated, so that no gap is read as a bad result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime

from relevansi import labels, notation
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
)
from relevansi.exporters.exports.judging_sentences import blindness_sentence
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.comparisons.comparisons import Comparison, ComparisonReport, Contender
from relevansi.metrics.comparisons.stability import Stability, Variation, VariedPart
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.figures import COMPOSITE_WEIGHTS, HEADLINES, figures
from relevansi.metrics.judging.queries import Undefined, why_undefined

MOST_POSITIONS = 12
"""So many positions of questions are listed; further ones are counted."""

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
    comparison = report.comparison
    parts = [f"{notation.day(on)}."]
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


def file_stem(report: ComparisonReport, name: str, on: date) -> str:
    """Return the name of a report's file without its ending: that of the original scripts."""
    phase = "" if report.phase is None else f"phase{report.phase}_"
    end = labels.file_ending(report.state) if report.state else ""
    return f"{phase}{name}_{notation.file_day(on)}{end}"


def raters(report: ComparisonReport) -> str:
    """Return the raters with the number of judgments each gave; "nobody yet" without any."""
    shares = (f"{name} ({notation.number(judgments)})" for name, judgments in report.raters)
    return ", ".join(shares) or gettext("nobody yet")


def until(judged: datetime | None) -> str:
    """Return when the last verdict was given."""
    return notation.zoned_moment(judged) if judged else gettext("no verdict yet")


def provenance(report: ComparisonReport) -> str:
    """Return who rated, by which rule, until when and with which version: under every table."""
    if report.files:
        sentence = gettext(
            "From rated files: %(files)s. Relevansi %(version)s.",
            files=", ".join(report.files),
            version=report.version,
        )
    else:
        sentence = gettext(
            "Rated by: %(raters)s. Rule: %(rule)s. Verdicts until: %(until)s. "
            "Relevansi %(version)s.",
            raters=raters(report),
            rule=labels.rule(report.comparison.rule),
            until=until(report.judged_until),
            version=report.version,
        )
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
    """Return by which methods intervals and tests were made: METHOD 4 and 5."""
    return gettext(
        "Intervals: %(share)s over questions, each of its figure or pair alone; Wilson's for a "
        "figure, Tango's for a paired difference, with the variance of values that are not 0 or "
        "1. Tests: two-sided paired randomisation by question, differences of 0 left out, exact "
        "over all signs; exact two-sided McNemar for the success rate. Holm's correction over the "
        "pairs of runs within each figure.",
        share=notation.percent(CONFIDENCE),
    )


def stability(result: Stability) -> str:
    """Return in how many of the variations tried the order of the runs stays the same."""
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
    if change.change is VariedPart.EMPTIES:
        if change.what == "counted":
            return gettext("false negatives at 0")
        return gettext("empty lists left out")
    names: Mapping[VariedPart, Callable[[str], str]] = {
        VariedPart.RATER: str,
        VariedPart.RULE: labels.rule,
        VariedPart.CATEGORY: labels.category,
        VariedPart.CUTOFF: "K = {}".format,
        VariedPart.QUESTION: lambda position: positions([int(position)]),
        VariedPart.CONVERSATION: lambda _: gettext("conversations"),
    }
    return names[change.change](change.what)


def order(comparison: Comparison, places: Sequence[Sequence[str]]) -> str:
    """Return run names from the highest value to the lowest, equal ones joined by "="."""
    levels = (" = ".join(comparison.names[run] for run in level) for level in places)
    return " > ".join(levels) or notation.UNDEFINED


def lacks(report: ComparisonReport) -> Iterator[str]:
    """Yield every gap: of rated files, of the study's sample, and of each run."""
    yield from limits_of_files(report)
    yield from unasked(report.comparison)
    for contender in report.comparison.contenders:
        yield from missing_parts(contender)


def missing_parts(contender: Contender) -> Iterator[str]:
    """Yield a sentence for each gap of a run, so that none is read as a bad result."""
    name, missing = contender.run.name, contender.missing
    if not contender.rated:
        yield gettext(
            "%(name)s is not rated: it has no figures yet and loses to no other run.", name=name
        )
    if missing.not_run:
        yield gettext(
            "%(name)s was not asked %(questions)s: no figure of it counts them.",
            name=name,
            questions=positions(missing.not_run),
        )
    if missing.incomplete and contender.rated:
        yield gettext(
            "%(name)s waits for verdicts on %(questions)s: its figures are provisional.",
            name=name,
            questions=positions(missing.incomplete),
        )
    if missing.unreadable:
        yield ngettext(
            "The answer of %(name)s to %(questions)s could not be read: it is in no denominator.",
            "The answers of %(name)s to %(questions)s could not be read: they are in no "
            "denominator.",
            len(missing.unreadable),
            name=name,
            questions=positions(missing.unreadable),
        )
    if missing.failed:
        yield failed_calls(name, missing.failed)
    if missing.unrated_quality and contender.rated:
        yield gettext(
            "%(name)s has no quality grade for %(questions)s.",
            name=name,
            questions=positions(missing.unrated_quality),
        )
    n_unjudged = contender.totals.n_unjudged
    # The method's own figures count only complete questions; ranking figures count every result.
    shows_ranking_figures = not {*contender.estimates} <= {*HEADLINES}
    if n_unjudged and shows_ranking_figures:
        yield ngettext(
            "%(n)s result of %(name)s has no verdict: it has no gain.",
            "%(n)s results of %(name)s have no verdict: they have no gain.",
            n_unjudged,
            name=name,
        )


def failed_calls(name: str, places: Sequence[int]) -> str:
    """Return the sentence on the questions whose call failed."""
    return ngettext(
        "The call of %(name)s for %(questions)s failed: it counts as no success.",
        "The calls of %(name)s for %(questions)s failed: they count as no success.",
        len(places),
        name=name,
        questions=positions(places),
    )


def unasked(comparison: Comparison) -> Iterator[str]:
    """Yield the sentence on the questions that the study's sample left out, if it did."""
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
    listed = notation.listed(places, MOST_POSITIONS)
    return ngettext("question %(listed)s", "questions %(listed)s", len(places), listed=listed)


def limits_of_files(report: ComparisonReport) -> Iterator[str]:
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
            left_open = [
                query.position
                for query in contender.run.queries
                if why_undefined(query.summary, name) is Undefined.LEFT_OPEN
            ]
            if left_open:
                yield gettext(
                    "The counts of %(name)s leave %(figure)s open for %(questions)s: there it has "
                    "no value.",
                    name=contender.run.name,
                    figure=figure_name(name),
                    questions=positions(left_open),
                )


def notes() -> Iterator[str]:
    """Yield how figures and differences are to be read."""
    yield settings()
    yield gettext(
        "n is the number of questions behind a figure. A difference is over the "
        "questions for which both runs have a value; it need not equal the difference "
        "of the two figures, which is given beside it."
    )
    yield gettext(notation.UNDEFINED_NOTE)


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
