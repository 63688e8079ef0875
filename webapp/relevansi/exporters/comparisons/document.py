"""A comparison as a document: its sections in the order in which every report prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import chain, groupby
from string import ascii_uppercase
from typing import Any, NamedTuple

from msgspec.structs import replace

from relevansi import labels, notation
from relevansi.exporters.comparisons import answers, breakdowns, differences, pictures, words
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
    joined,
    unit_of,
)
from relevansi.exporters.exports import empty_answers
from relevansi.exporters.frame.canvas import PRINT
from relevansi.exporters.frame.charts import in_words
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    numbers,
    settings_table,
    stacked,
    table_of,
    whole_number,
    word,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.comparisons import (
    Comparison,
    ComparisonReport,
    Contender,
    FigureEstimate,
)
from relevansi.metrics.comparisons.differences import (
    ComparedQuery,
    Difference,
    highest_value,
    leading,
)
from relevansi.metrics.comparisons.stability import StabilityLine
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.empty_answers import counts_of
from relevansi.metrics.judging.figures import HEADLINES, averaged
from relevansi.metrics.judging.graded import with_judged
from relevansi.metrics.judging.registry import Unit
from relevansi.metrics.planning.settled import SettledOrder
from relevansi.records import QueryState


class Part(NamedTuple):
    """What another feature makes of the compared runs: its value, as a section and as JSON."""

    name: str
    value: Any
    section: Callable[[Any], Section]
    json: Callable[[Any], Any]


MOST_FINDINGS = 4
"""So many significant differences are in the paragraph of findings; further ones are counted."""

MOST_VARIATIONS = 10
"""So many variations that move an order are named; further ones are counted."""


def configuration(report: ComparisonReport) -> Table:
    """Return how the comparison was made: raters, rule, scale, intervals and tests, version."""
    if report.files:
        lines = [(gettext("Rated files"), ", ".join(report.files))]
    else:
        lines = [
            (gettext("Study"), report.study),
            (gettext("Raters"), words.raters(report)),
            (gettext("Rule"), labels.rule(report.comparison.rule)),
            (gettext("Verdicts until"), words.until(report.judged_until)),
            (gettext("Blind rating"), words.blindness(report)),
        ]
    if report.cannot_tell:
        lines.append((gettext("Cannot tell"), labels.cannot_tell(report.cannot_tell)))
    scale = report.comparison.scale
    if scale.top > 1:
        grades = gettext(
            "0-%(top)s, relevant from grade %(grade)s", top=scale.top, grade=scale.relevant_from
        )
        lines.append((gettext("Scale"), grades))
    lines += [
        (gettext("Intervals and tests"), words.settings()),
        (gettext("Version"), f"Relevansi {report.version}"),
    ]
    return settings_table("configuration", gettext("How the comparison was made"), lines)


def contenders(report: ComparisonReport) -> Table:
    """Return the compared runs, with how many questions each has and of which state."""

    def method(contender: Contender) -> Cell:
        label = contender.run.search_method
        if not label:
            return word(gettext("not stated"))
        return Cell(labels.with_label(labels.method(label), label), (label,))

    def complete(contender: Contender) -> Cell:
        n, of = contender.totals.n_complete, contender.totals.n_queries
        return Cell(notation.number(n), (n,), of=of)

    return table_of(
        "runs",
        gettext("What was compared"),
        report.comparison.contenders,
        (
            (gettext("Run"), lambda each: each.run.name),
            ("id", lambda each: each.run.run),
            (gettext("Search method"), method),
            (gettext("LLM"), lambda each: each.run.llm or gettext("not stated")),
            (numbers(gettext("Questions")), lambda each: each.totals.n_queries),
            (numbers(gettext("Complete")), complete),
            (numbers(gettext("With results")), lambda each: each.totals.n_with_results),
            (numbers(gettext("Empty")), lambda each: each.totals.n_empty),
            (numbers(gettext("Failed")), lambda each: each.totals.n_failed),
            (numbers(gettext("Unreadable")), lambda each: each.totals.n_unreadable),
            (numbers(gettext("Not run")), lambda each: len(each.missing.not_run)),
        ),
        words.provenance(report),
    )


def _run_columns(comparison: Comparison, *parts: str, best: float | None = None) -> list[Column]:
    return [numbers(each.run.name, *parts, best=best) for each in comparison.contenders]


def figure_table(report: ComparisonReport, name: str, figures: Sequence[str]) -> Table:
    """Return the figures of each run with intervals, or what they can still become."""
    comparison = report.comparison
    share = notation.percent(CONFIDENCE)
    parts: tuple[str, ...] = (gettext("Value"), gettext("Lower"), gettext("Upper"), "n")
    rows_of_estimates = {
        figure: [contender.estimates[figure] for contender in comparison.contenders]
        for figure in figures
    }
    is_open = any(
        estimate.figure.is_provisional for row in rows_of_estimates.values() for estimate in row
    )
    if is_open:
        parts += (gettext("At least"), gettext("At most"))
    rows = []
    for figure, estimates in rows_of_estimates.items():
        unit = unit_of(figure)
        cells = (_estimate(estimate, unit, is_open=is_open) for estimate in estimates)
        rows.append((word(figure_name(figure, comparison.scale)), *cells))
    notes: tuple[str, ...] = ()
    if name == "composite":
        parts_n = words.composite_parts(comparison)
        notes = (gettext(words.COMPOSITE_NOTE), *parts_n, words.provenance(report))
    title = gettext("Figures of each run: value, %(share)s interval, n", share=share)
    columns = (Column(gettext("Figure")), *_run_columns(comparison, *parts))
    return Table(name, title, columns, tuple(rows), notes)


def by_category(report: ComparisonReport, figure: str) -> Table:
    """Return a figure of each run over the questions of each category."""
    comparison = report.comparison
    runs = _run_columns(comparison, gettext("Value"), "n", best=highest_value(figure))
    rows = []
    for category in comparison.categories:
        name = labels.with_label(labels.category(category), category)
        cells = (_category(contender, category, figure) for contender in comparison.contenders)
        rows.append((Cell(name, (category,)), *cells))
    return Table(
        f"category_{figure.replace(' ', '_')}",  # an id on the page, which has no blanks
        gettext("%(figure)s by category", figure=figure_name(figure, comparison.scale)),
        (Column(gettext("Category")), *runs),
        tuple(rows),
        (words.provenance(report),),
    )


def stability(report: ComparisonReport) -> Table:
    """Return, for each kind of change and each figure, in how many variations the order moves."""
    comparison, result = report.comparison, report.stability
    parts = (gettext("Tried"), gettext("Order changes"), gettext("Another run first"), "")
    figures = (Column(figure_name(name, comparison.scale), parts=parts) for name in result.orders)
    orders = [words.order(comparison, order) for order in result.orders.values()]
    unchanged = (Cell(order, (None, None, None, order)) for order in orders)
    rows = [(word(gettext("None: the order as compared")), *unchanged)]
    for change, lines in breakdowns.lines_by_change(result):
        rows.append((word(gettext(words.CHANGES[change])), *map(_moved, lines)))
    note = gettext(
        "The order changes when two runs change places; runs that become equal, or stop being "
        "equal, do not count as a change."
    )
    return Table(
        "stability",
        gettext("Does the order survive another way of counting?"),
        (Column(gettext("Change")), *figures),
        tuple(rows),
        (note, words.provenance(report)),
    )


def questions(report: ComparisonReport) -> Table:
    """Return every question with the leading figures in each run, and how far these differ.

    In a study with the figures of the method those are P@5 and the reciprocal rank.
    """
    comparison = report.comparison
    if comparison.headline == HEADLINES:
        names: Sequence[str] = ("mean_precision_at_5", "mrr_answerable", "success_rate")
        headings = ["P@5", "RR", gettext("Success")]
        title = gettext("Each question: P@5 / reciprocal rank")
        spread = gettext("P@5 spread")
        note = gettext(
            "P@5 spread: the largest minus the smallest P@5 of the runs, a false negative at 0."
        )
    else:
        names = leading(comparison.headline)
        headings = [figure_name(name, comparison.scale) for name in names]
        lead = headings[0] if headings else ""
        title = gettext("Each question: %(figures)s", figures=" / ".join(headings[:2]))
        spread = gettext("Spread of %(figure)s", figure=lead)
        note = gettext(
            "Spread of %(figure)s: the largest minus the smallest value of the runs.", figure=lead
        )
    columns = (
        numbers(gettext("No.")),
        Column(gettext("Question")),
        Column(gettext("Category")),
        *_run_columns(comparison, gettext("State"), *headings),
        numbers(spread),
    )
    rows = (
        (
            whole_number(line.position),
            word(line.question),
            Cell(labels.category(line.category), (line.category,)),
            *(_answer(query, averaged(names)) for query in line.answers),
            Cell(notation.figure(line.spread), (line.spread,)),
        )
        for line in comparison.questions
    )
    notes = (note, *words.unasked(comparison), words.provenance(report))
    return Table("questions", title, columns, tuple(rows), notes)


def _estimate(estimate: FigureEstimate, unit: Unit, *, is_open: bool) -> Cell:
    """Return a figure with its interval or, while it is open, with the band of its values."""
    figure, interval = estimate.figure, estimate.interval
    reach = (figure.lower, figure.upper) if is_open else ()
    words = in_words(figure, unit)
    if words.is_open:
        values = (None, None, None, figure.n, *reach)
        return replace(stacked((words.text, words.n), values), so_far=words.so_far)
    if interval.lower is None or figure.settled != figure.value:
        return stacked((words.text, words.n), (figure.settled, None, None, figure.n, *reach))
    values = (figure.settled, interval.lower, interval.upper, figure.n, *reach)
    bounds = notation.interval(interval.lower, interval.upper, unit)
    return stacked((words.text, bounds, words.n), values)


def _category(contender: Contender, category: str, figure: str) -> Cell:
    figures = contender.categories.get(category)
    if figures is None:
        return Cell(gettext("not run"), (None, None))
    mean = figures[figure]
    cell = in_words(mean, unit_of(figure))
    return replace(stacked((cell.text, cell.n), (mean.settled, mean.n)), so_far=cell.so_far)


def _moved(line: StabilityLine | None) -> Cell:
    """Return in how many variations of one kind the order changes, and in which."""
    if line is None:
        return Cell(notation.UNDEFINED, (None, None, None, None))
    n_moved, n_unseated = len(line.moved), len(line.unseated)
    tried = notation.number(line.tried)
    where = notation.listed(map(words.variation, line.moved), MOST_VARIATIONS)
    values = (line.tried, n_moved, n_unseated, where or None)
    if not n_moved:
        return stacked((gettext("stays in %(tried)s of %(tried)s", tried=tried),), values)
    moved = notation.number(n_moved)
    lines = [gettext("changes in %(moved)s of %(tried)s", moved=moved, tried=tried), where]
    if n_unseated:
        lines.append(gettext("another run first in %(n)s", n=notation.number(n_unseated)))
    return stacked(tuple(lines), values, between="; ")


def _answer(query: ComparedQuery | None, names: Sequence[str]) -> Cell:
    """Return the state of an answer and its values by the figures `names`."""
    state = breakdowns.state(query)
    if query is None:
        return Cell(state, (state, *[None] * len(names)))
    summary = query.summary
    values = [summary.figures[name].value for name in names]
    text = state
    if summary.state is QueryState.RESULTS and (summary.complete or any(values[:2])):
        text = " / ".join(in_words(summary.figures[name]).text for name in names[:2])
        if not summary.complete:
            text += f" ({state})"
    return Cell(text, (state, *values))


def document(report: ComparisonReport, on: date) -> Document:
    """Return `report` as a document to hand in, dated `on`, in the language in force.

    The answer, its figure and two tables, how it was rated and what limits the answer are two
    pages; all else is in the appendix.
    """
    comparison = report.comparison
    title, below = answers.answer(comparison, report.state)
    is_open = answers.is_open(report)
    tests = possible_table(report) if is_open else differences.test_table(comparison.tests)
    names = [name for name in with_judged(comparison.headline) if name != "composite"]
    tables = [figure_table(report, "summary", names), *([tests] if tests.rows else [])]
    picture = pictures.for_every_screen(report)
    sections = (
        Section("summary", "", (findings(report),), tuple(tables), (picture,)),
        Section("rating", gettext("How it was rated"), (how_rated(report),), ()),
        Section("limits", gettext("Limits"), (limits(report),), ()),
    )
    appendix = []
    for letter, section in zip(ascii_uppercase, _appendix(report), strict=False):
        title_of_section = gettext(
            "Appendix %(letter)s. %(title)s", letter=letter, title=section.title
        )
        appendix.append(replace(section, title=title_of_section))
    return Document(
        title=title,
        subtitle=words.byline(report, on),
        sections=sections,
        answer=(below,) if below else (),
        state=words.provisional(report) if is_open else "",
        figure=(words.file_stem(report, pictures.FILE, on), pictures.draw_intervals(report, PRINT)),
        overline=" · ".join(filter(None, (report.study, gettext(words.TITLES[report.phase])))),
        appendix=tuple(appendix),
    )


def _appendix(report: ComparisonReport) -> Iterator[Section]:
    """Yield the sections of the appendix: configuration, questions, stability, parts, tests."""
    sentences = (*words.lacks(report), *words.notes())
    tables = (configuration(report), contenders(report))
    yield Section("configuration", gettext("Configuration"), sentences, tables)
    yield Section("questions", gettext("Results by question"), (), (questions(report),))
    stable = (words.stability(report.stability),)
    yield Section("stability", gettext("Stability"), stable, (stability(report),))
    for part in report.parts.values():
        yield part.section(part.value)
    if any(report.empty_answers.values()):
        yield empty_answers.section(report)
    yield _other_figures(report)


def _other_figures(report: ComparisonReport) -> Section:
    """Return the composite, categories, all differences and the signed-rank tests."""
    comparison = report.comparison
    is_tested = not answers.is_open(report)
    notes = (words.provenance(report),)
    tables = []
    if "composite" in comparison.headline:
        tables.append(figure_table(report, "composite", ["composite"]))
    tables += [by_category(report, name) for name in leading(comparison.headline)]
    compared = comparison.differences
    table = differences.difference_table("differences", compared, notes, is_tested=is_tested)
    tables.append(table)
    conclusions: list[str] = []
    if is_tested:
        of_headline = (each for each in compared if each.is_of_headline)
        conclusions = [*map(differences.conclusion, of_headline)]
        tables.append(differences.signed_rank_table("signed_rank", compared, notes))
    title = gettext("Other figures and tests")
    return Section("others", title, tuple(conclusions), tuple(tables))


def findings(report: ComparisonReport) -> str:
    """Return the significant differences, and where none was shown, in one paragraph."""
    comparison = report.comparison
    if answers.is_open(report):
        return gettext(
            "Shown is what every figure can still become. Nothing is tested before all is rated."
        )
    tests = comparison.tests

    def pair(test: Difference) -> list[str]:
        return [each.run for each in test.in_order]

    significant = sorted((test for test in tests if test.significant), key=pair)
    sentences = [
        differences.finding(test, is_same_pair=place > 0)
        for _, of_pair in groupby(significant[:MOST_FINDINGS], key=pair)
        for place, test in enumerate(of_pair)
    ]
    n_further = len(significant[MOST_FINDINGS:])
    if n_further:
        sentences.append(differences.further_differences(n_further))
    decided = {test.figure for test in significant}
    undecided = dict.fromkeys(test.figure for test in tests if test.figure not in decided)
    if undecided:
        names = [figure_name(figure, comparison.scale) for figure in undecided]
        none_shown = gettext(
            "On %(figures)s no difference was shown between any two.",
            figures=joined(names),
        )
        sentences.append(none_shown)
    sentences.append(answers.detectable_sentence(report))
    return " ".join(filter(None, sentences))


def how_rated(report: ComparisonReport) -> str:
    """Return who rated, how blind, by which rule, and how far they agree, in one paragraph."""
    if report.files:
        limits_of_files = words.limits_of_files(report)
        return " ".join([words.provenance(report), *limits_of_files, words.settings()])
    n_verdicts = sum(n for _, n in report.raters)
    sentences = [
        ngettext(
            "%(n)s rater gave %(verdicts)s verdicts; what several runs list was judged once.",
            "%(n)s raters gave %(verdicts)s verdicts; what several runs list was judged once.",
            len(report.raters),
            verdicts=notation.number(n_verdicts),
        ),
        words.blindness(report),
        gettext("Labels: %(rule)s.", rule=labels.rule(report.comparison.rule)),
        labels.cannot_tell(report.cannot_tell),
    ]
    alpha = report.alpha
    if alpha is not None and alpha.value is not None:
        sentence = gettext(
            "Agreement of the raters on cards: Krippendorff's alpha %(alpha)s %(interval)s, "
            "n = %(n)s.",
            alpha=notation.figure(alpha.value, "coefficient"),
            interval=notation.interval(alpha.lower, alpha.upper, "coefficient"),
            n=notation.number(alpha.n),
        )
        sentences.append(sentence)
    of_all_runs = chain.from_iterable(answers.values() for answers in report.empty_answers.values())
    sentences += empty_answers.sentences(counts_of(of_all_runs))
    for contender in report.comparison.contenders:
        if contender.missing.failed:
            sentences.append(words.failed_calls(contender.run.name, contender.missing.failed))
    sentences.append(words.settings())
    return " ".join(filter(None, sentences))


def limits(report: ComparisonReport) -> str:
    """Return what the answer leaves open, in one paragraph."""
    comparison = report.comparison
    sentences = [gettext("No difference shown does not mean equal.")]
    if not answers.is_open(report):
        sentences += differences.smallness(comparison.differences)
        sentences += differences.reversed_orders(comparison)
    sentences.append(words.stability(report.stability))
    if not report.files:
        sentences.append(
            gettext("The figures are those of these questions, runs and raters; others may differ.")
        )
    return " ".join(sentences)


def possible_table(report: ComparisonReport) -> Table:
    """Return the differences that the finished rating can still have, and which order is fixed."""
    names = report.comparison.names

    def bounds(order: SettledOrder) -> Cell:
        text = notation.interval(order.low, order.high, unit_of(order.figure), signed=True)
        return Cell(text, (order.low, order.high))

    return table_of(
        "possible",
        gettext(
            "Differences still possible, first run minus second, and what can change the order"
        ),
        answers.bounded_orders(report),
        (
            (gettext("Figure"), lambda order: figure_name(order.figure, report.comparison.scale)),
            differences.pair_column(lambda order: (names[order.first], names[order.second])),
            (numbers(gettext("Difference"), "min", "max"), bounds),
            (gettext("Order"), answers.order_in_words),
        ),
    )
