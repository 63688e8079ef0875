"""The answer of a comparison, one string for page, report and home, and what its page draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Generic, NamedTuple, TypeVar

from markupsafe import Markup

from relevansi import notation
from relevansi.exporters.comparisons.differences import further_differences
from relevansi.exporters.comparisons.figure_names import (
    difference_name,
    figure_name,
    joined,
    unit_of,
)
from relevansi.exporters.frame import charts
from relevansi.exporters.frame.charts import Axis, Figure
from relevansi.exporters.planning import detectable
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.comparisons import Comparison, ComparisonReport
from relevansi.metrics.comparisons.differences import Difference, highest_value
from relevansi.metrics.intervals import LEVEL
from relevansi.metrics.judging.queries import QUALITY
from relevansi.metrics.planning.power import USUAL
from relevansi.metrics.planning.settled import SettledOrder, SettledOrders
from relevansi.records import Scale, State

RowT = TypeVar("RowT")

TWO_LINES = 112
"""The most characters of an answer that fit into two lines of a page."""
MOST_GROUPS = 3
"""So many groups of winners are named in the answer; further ones are counted."""
MOST_PAIRS = 12
"""The most rows of differences on a page; of more, those with the smallest p."""


class Answer(NamedTuple):
    """The answer of a comparison: ``title``, and ``below`` what does not fit into the title."""

    title: str
    below: str = ""


class Method(NamedTuple):
    """A compared run as drawings name it: its shape, 0 for grey, and its name."""

    mark: int
    name: str

    @property
    def markup(self) -> str:
        """The name after its shape, which grows with the letters."""
        key = charts.key(self.mark)
        return f'<span class="who">{key}<bdi>{Markup.escape(self.name)}</bdi></span>'


def methods(report: ComparisonReport) -> dict[str, Method]:
    """Return each compared run by its id with its shape, the same in the whole study."""
    by_run = {}
    for place, contender in enumerate(report.comparison.contenders, 1):
        run = contender.run
        usual_mark = place if place <= charts.SHAPES else 0
        by_run[run.run] = Method(report.marks.get(run.run, usual_mark), run.name)
    return by_run


def answer(comparison: Comparison, state: State | None) -> Answer:
    """Return who is ahead on which figures, or what is still to be done before that is known.

    `state` is how far the runs are rated, ``None`` where only the figures say it.
    """
    still_open = open_sentence(comparison, state)
    sentences = [still_open] if still_open else verdicts(comparison.tests, comparison.names)
    n = len(sentences) if sum(map(len, sentences)) <= TWO_LINES else 1
    return Answer(" ".join(sentences[:n]), " ".join(sentences[n:]))


def marked_answer(report: ComparisonReport) -> Answer:
    """Return the same as markup, with its shape before each method."""
    plain = answer(report.comparison, report.state)
    if is_open(report):
        return plain  # it names raters, whose names are no markup
    names = {run: method.markup for run, method in methods(report).items()}
    sentences = verdicts(report.comparison.tests, names)
    # Cut where the plain answer is: its letters count, not those of the markup.
    n = 1 if plain.below else len(sentences)
    title, below = " ".join(sentences[:n]), " ".join(sentences[n:])
    return Answer(Markup(title), Markup(below))  # noqa: S704 - the names in it are escaped


def is_open(report: ComparisonReport) -> bool:
    """Whether anything that moves a figure is still to be judged: nothing is tested before."""
    return bool(open_sentence(report.comparison, report.state))


def open_sentence(comparison: Comparison, state: State | None) -> str:
    """Return what is still to be judged before anything is tested; "" once nothing is."""
    if state is None:
        incomplete: set[int] = set()
        for contender in comparison.contenders:
            incomplete.update(contender.missing.incomplete)
        return _to_be_rated(len(incomplete), len(comparison.questions)) if incomplete else ""
    if state.is_complete:
        return ""
    if state.cards or state.lists:
        return _to_be_rated(state.questions - state.complete, state.questions)
    if state.behind:
        names = joined([*state.behind])
        return gettext("No answer yet. Still rating: %(names)s.", names=names)
    if state.ties or state.decided:
        return ngettext(
            "No answer yet: %(n)s tie is still to be decided.",
            "No answer yet: %(n)s ties are still to be decided.",
            state.ties or state.decided,
        )
    return ngettext(
        "No answer yet: %(n)s answer is still to be graded.",
        "No answer yet: %(n)s answers are still to be graded.",
        state.answers,
    )


def _to_be_rated(n: int, of: int) -> str:
    return ngettext(
        "No answer yet: %(n)s of %(of)s questions is still to be rated.",
        "No answer yet: %(n)s of %(of)s questions are still to be rated.",
        n,
        of=notation.number(of),
    )


def verdicts(tests: Sequence[Difference], names: Mapping[str, str]) -> list[str]:
    """Return who is ahead after Holm's correction, then between whom no difference was shown."""
    if not tests:
        return [gettext("Nothing can be concluded yet: no two runs share a rated question.")]
    won: dict[tuple[str, str], list[str]] = {}
    for test in tests:
        if test.significant:
            higher, lower = test.in_order
            won.setdefault((higher.run, lower.run), []).append(difference_name(test))
    decided = {frozenset(pair) for pair in won}
    undecided = {frozenset((test.first, test.second)) for test in tests} - decided
    return [*_ahead(won, names), *_undecided(undecided, names)]


def _ahead(won: Mapping[tuple[str, str], list[str]], names: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each winner and the runs that it is ahead of on the same figures."""
    beaten: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (higher, lower), figures in won.items():
        beaten.setdefault((higher, tuple(figures)), []).append(names[lower])
    most_figures_first = sorted(beaten.items(), key=lambda group: -len(group[0][1]))
    for (higher, shared), lower_names in most_figures_first[:MOST_GROUPS]:
        yield gettext(
            "%(higher)s is ahead of %(lower)s on %(figures)s.",
            higher=names[higher],
            lower=joined(lower_names),
            figures=joined(shared),
        )
    n_further = sum(len(lower_names) for _, lower_names in most_figures_first[MOST_GROUPS:])
    if n_further:
        yield further_differences(n_further)


def _undecided(pairs: Collection[frozenset[str]], names: Mapping[str, str]) -> Iterator[str]:
    """Yield between whom no difference was shown: all, a run and every other, or single pairs."""
    runs = len(names)
    if len(pairs) == runs * (runs - 1) / 2:
        yield _no_difference(names.values())
        return
    n_pairs = {run: sum(run in pair for pair in pairs) for run in names}
    alike = [run for run in names if n_pairs[run] == runs - 1]
    if alike:
        listed = joined([names[run] for run in alike])
        if runs == 3 and len(alike) == 1:
            yield gettext("%(name)s cannot be told apart from either.", name=listed)
        else:
            yield gettext("%(names)s cannot be told apart from any other.", names=listed)
    further = [
        pair
        for pair in combinations(names, 2)
        if frozenset(pair) in pairs and not {*pair} & {*alike}
    ]
    if len(further) > MOST_GROUPS:
        yield ngettext(
            "Between %(n)s further pair no difference could be shown.",
            "Between %(n)s further pairs no difference could be shown.",
            len(further),
        )
        return
    for pair in further:
        yield _no_difference(names[run] for run in pair)


def _no_difference(names: Iterable[str]) -> str:
    listed = joined([*names])
    return gettext("No difference between %(names)s could be shown.", names=listed)


def basis_of(report: ComparisonReport) -> str:
    """Return the level of the tests and what so many questions can detect, in one line."""
    if is_open(report):
        return gettext("Hollow: the value so far. Band: all values still possible.")
    level = gettext("At %(level)s after Holm's correction.", level=notation.percent(LEVEL))
    return f"{level} {detectable_sentence(report)}".rstrip()


def detectable_sentence(report: ComparisonReport) -> str:
    """Return what the tests that found nothing can detect; "" where that is unknown."""
    alike = [
        test
        for test in report.comparison.tests
        if unit_of(test.figure) == notation.RATIO and not test.significant
    ]
    few = [test for test in alike if detectable.too_few(test)]
    if few:
        return detectable.smallest_p_of(few[0])
    smallest = detectable.smallest_shown(alike)
    if smallest is None:
        return ""
    difference, n = smallest
    return ngettext(
        "With %(n)s question only differences above about %(difference)s can be detected "
        "(%(power)s power).",
        "With %(n)s questions only differences above about %(difference)s can be detected "
        "(%(power)s power).",
        n,
        difference=notation.amount(difference),
        power=notation.percent(USUAL.power),
    )


class PanelRow(NamedTuple):
    """One method in one figure, and whom a test puts it ahead of."""

    method: Method
    figure: Figure
    ahead_of: tuple[Method, ...]


class FigureRows(NamedTuple, Generic[RowT]):
    """The rows of one figure on its axis, whose numbers stand below it where it ``has_scale``.

    ``n`` is over how many questions differences are.
    """

    name: str
    unit: str
    axis: Axis
    rows: tuple[RowT, ...]
    has_scale: bool
    n: str = ""


def axis_of(figure: str) -> Axis:
    """Return the whole range of a figure."""
    top = highest_value(figure)
    if top == 1:
        return charts.RATIO
    return charts.QUALITY if top == 5 else Axis(0, top, tuple(top * n / 5 for n in range(6)))


def panel(report: ComparisonReport) -> list[FigureRows[PanelRow]]:
    """Return the headline figures of every method, those of one axis together."""
    comparison, by_run = report.comparison, methods(report)
    figures = comparison.deciding
    axes = [axis_of(figure) for figure in figures]
    tests = [] if is_open(report) else comparison.tests
    groups = []
    for place, figure in enumerate(figures):
        beaten: defaultdict[str, list[Method]] = defaultdict(list)
        for test in tests:
            if test.figure == figure and test.significant:
                higher, lower = test.in_order
                beaten[higher.run].append(by_run[lower.run])
        rows = []
        for contender in comparison.contenders:
            run, estimate = contender.run.run, contender.estimates[figure]
            drawn = charts.drawn(
                estimate.figure,
                estimate.interval,
                by_run[run].mark,
                is_judged=contender.run.is_judged,
            )
            rows.append(PanelRow(by_run[run], drawn, tuple(beaten[run])))
        groups.append(
            FigureRows(
                short_name(figure, comparison.scale),
                unit_of(figure),
                axes[place],
                tuple(rows),
                has_scale=axes[place] not in axes[place + 1 :],
            )
        )
    return groups


def short_name(figure: str, scale: Scale) -> str:
    """Return the name of a figure for a narrow column."""
    if figure == QUALITY:
        return gettext("Quality, 0–5")
    return gettext("Success") if figure == "success_rate" else figure_name(figure, scale)


class ForestRow(NamedTuple):
    """One pair of methods in one figure: the first minus the second.

    ``figure`` is the difference with its interval, or with what it can still become. It has the
    shape of the higher method where that is certain (``is_shown``): a test shows it, or the open
    cards cannot change it. ``last`` is p after Holm, or what can still change the order.
    """

    first: Method
    second: Method
    figure: Figure
    last: str
    is_shown: bool


def forest(report: ComparisonReport) -> tuple[list[FigureRows[ForestRow]], int]:
    """Return the differences that a page shows, by figure, and how many only the report has."""
    by_run = methods(report)
    if is_open(report):
        orders = bounded_orders(report)
        n_rows = len(orders)
        rows = [(order.figure, _possible(by_run, order)) for order in orders[:MOST_PAIRS]]
    else:
        tests = report.comparison.tests
        n_rows = len(tests)
        by_p = sorted(tests, key=lambda test: 1 if test.p_holm is None else test.p_holm)
        smallest_p = by_p[:MOST_PAIRS]
        rows = [(test.figure, _tested(by_run, test)) for test in tests if test in smallest_p]
    return _forest_groups(report, rows), n_rows - len(rows)


def bounded_orders(report: ComparisonReport) -> list[SettledOrder]:
    """Return the order of every two runs by what decides, where its difference has bounds."""
    part = report.parts.get("settled")
    if part is None or not isinstance(part.value, SettledOrders):
        return []
    bounded = [order for order in part.value.orders if order.low is not None]
    figures = report.comparison.deciding
    return [order for figure in figures for order in bounded if order.figure == figure]


def order_in_words(order: SettledOrder) -> str:
    """Return that nothing can change the order any more, or how many cards still can."""
    if order.settled:
        return gettext("fixed")
    return ngettext("%(n)s card", "%(n)s cards", order.open_cards)


def _possible(by_run: Mapping[str, Method], order: SettledOrder) -> ForestRow:
    mark = by_run[order.higher].mark if order.higher else 0
    figure = Figure(None, order.n, low=order.low, high=order.high, mark=mark)
    pair = by_run[order.first], by_run[order.second]
    return ForestRow(*pair, figure, order_in_words(order), is_shown=order.settled)


def _tested(by_run: Mapping[str, Method], test: Difference) -> ForestRow:
    """Return the row of a tested difference; its shape is that of the higher run if significant."""
    figure = Figure(
        test.mean,
        test.n,
        test.n,
        ci_low=test.interval.lower,
        ci_high=test.interval.upper,
        mark=by_run[test.in_order[0].run].mark if test.significant else 0,
    )
    p = notation.p_value(test.p_holm)
    return ForestRow(by_run[test.first], by_run[test.second], figure, p, is_shown=test.significant)


def _forest_groups(
    report: ComparisonReport, lines: Sequence[tuple[str, ForestRow]]
) -> list[FigureRows[ForestRow]]:
    """Return the rows by figure, on an axis that figures of one unit share."""
    by_figure: dict[str, list[ForestRow]] = {}
    largest: dict[str, float] = {}
    for name, row in lines:
        by_figure.setdefault(name, []).append(row)
        figure, unit = row.figure, unit_of(name)
        ends = (figure.value, figure.low, figure.high, figure.ci_low, figure.ci_high)
        sizes = (abs(end) for end in ends if end is not None)
        largest[unit] = max([largest.get(unit, 0.0), *sizes])
    units = [unit_of(name) for name in by_figure]
    groups = []
    for place, (name, rows) in enumerate(by_figure.items()):
        unit = units[place]
        groups.append(
            FigureRows(
                short_name(name, report.comparison.scale),
                unit,
                charts.difference_axis(largest[unit]),
                tuple(rows),
                has_scale=unit not in units[place + 1 :],
                n=_n_in_words({row.figure.n for row in rows if row.figure.n}),
            )
        )
    return groups


def _n_in_words(counts: Collection[int]) -> str:
    if not counts:
        return ""
    extremes = dict.fromkeys((min(counts), max(counts)))  # one where they are equal
    return f"n = {'–'.join(map(notation.number, extremes))}"
