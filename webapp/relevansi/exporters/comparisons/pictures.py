"""The pictures of a comparison by name: markup for a page, files to download."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from math import ceil

from msgspec import Struct

from relevansi import labels, notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
    unit_of,
)
from relevansi.exporters.frame import canvas as lettering
from relevansi.exporters.frame.canvas import (
    LARGE,
    LINE,
    NORMAL,
    PAGE,
    PRINT,
    SMALL,
    WIDE,
    Canvas,
    Palette,
    Picture,
    Point,
    png_file,
    svg_file,
)
from relevansi.exporters.frame.charts import in_words
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.comparisons import (
    ComparedQuestionLine,
    Comparison,
    ComparisonReport,
    Contender,
)
from relevansi.metrics.comparisons.differences import value_of
from relevansi.metrics.intervals import CONFIDENCE, Interval
from relevansi.metrics.judging.figures import HEADLINES, Figure, averaged
from relevansi.metrics.judging.graded import ranking_figure
from relevansi.metrics.judging.queries import BEST_QUALITY
from relevansi.metrics.judging.registry import measure_of
from relevansi.notation import file_day

GAP = 40.0
EDGE = 8.0
"""Room left and right of a track, for the marks at its ends."""


class Track(Struct, frozen=True):
    """Where the values of one panel lie: from `left` to `right`, 0 to `top`."""

    left: float
    right: float
    top: float
    unit: str = notation.RATIO

    @property
    def start(self) -> float:
        return self.left - EDGE

    @property
    def end(self) -> float:
        return self.right + EDGE

    @property
    def ticks(self) -> tuple[float, ...]:
        steps = 4 if self.top == 1 else 5
        return tuple(self.top * step / steps for step in range(steps + 1))

    def at(self, value: float) -> float:
        share = min(max(value / self.top, 0.0), 1.0)
        return self.left + share * (self.right - self.left)

    def rule(self, canvas: Canvas, middle: float) -> None:
        canvas.line((self.left, middle), (self.right, middle), stroke="rule")
        for tick in self.ticks:
            self._across(canvas, tick, middle, 5, "rule", 1)

    def labels(self, canvas: Canvas, base: float) -> None:
        for tick in self.ticks:
            label = notation.scale(tick, self.unit)
            half = lettering.width(label, SMALL) / 2
            where = min(max(self.at(tick), self.start + half), self.end - half)
            canvas.text((where, base), label, size=SMALL, fill="soft", anchor="middle")

    def named(self, canvas: Canvas, base: float, name: str, said: str, size: float) -> None:
        """Write a name at the left end of the panel and `said` at the right."""
        room = self.end - self.start - lettering.width(said, SMALL) - 12
        canvas.text((self.start, base), name, size=size, room=room)
        canvas.text((self.end, base), said, size=SMALL, fill="soft", anchor="end")

    def estimate(
        self,
        canvas: Canvas,
        value: float | None,
        interval: Interval,
        middle: float,
    ) -> None:
        """Draw a value and its interval; nothing if it is undefined."""
        if value is None:
            return
        if interval.lower is not None and interval.upper is not None:
            low, high = self.at(interval.lower), self.at(interval.upper)
            canvas.line((low, middle), (high, middle), stroke="accent", width=2)
            for end in (interval.lower, interval.upper):
                self._across(canvas, end, middle, 4, "accent", 2)
        canvas.dot((self.at(value), middle), fill="accent")

    def band(self, canvas: Canvas, figure: Figure, middle: float) -> None:
        """Draw from where to where an open figure can still come, hollow where it is so far."""
        assert figure.lower is not None
        assert figure.upper is not None
        ends = self.at(figure.lower), self.at(figure.upper)
        canvas.line(*((end, middle) for end in ends), stroke="rule", width=10)
        if figure.value is not None and figure.lower <= figure.value <= figure.upper:
            canvas.dot((self.at(figure.value), middle), fill="paper")

    def _across(
        self, canvas: Canvas, value: float, middle: float, half: float, stroke: str, width: float
    ) -> None:
        where = self.at(value)
        canvas.line((where, middle - half), (where, middle + half), stroke=stroke, width=width)


def top_of(figure: str) -> float:
    """Return the largest value of a figure: that of relevant@k is k."""
    unit = measure_of(figure).unit
    if unit == "count":
        return float(ranking_figure(figure).cutoff or 1)
    return float(BEST_QUALITY) if unit == "grade 0-5" else 1.0


def panels(figures: Sequence[str], height: float) -> Iterator[tuple[str, float, Track]]:
    """Yield each figure with the top of its panel and its track, in two columns."""
    panel = (WIDE - GAP) / 2
    for number, figure in enumerate(figures):
        left = (number % 2) * (panel + GAP)
        track = Track(left + EDGE, left + panel - EDGE, top_of(figure), unit_of(figure))
        yield figure, (number // 2) * height, track


def below(figures: Sequence[str], height: float) -> float:
    return ceil(len(figures) / 2) * height


def value_with_interval(found: float | None, interval: Interval, unit: str) -> str:
    bounds = notation.interval(interval.lower, interval.upper, unit)
    return f"{notation.figure(found, unit)}{'' if interval.lower is None else f' {bounds}'}"


def charted(headline: Sequence[str]) -> tuple[str, ...]:
    """Return the figures that come from judgments, without the composite."""
    return averaged(headline)


HEADING = 26.0
INTERVAL_ROW = 38.0
MARK = 26.0
AXIS = 30.0


def draw_intervals(report: ComparisonReport, palette: Palette = PAGE) -> Picture:
    comparison = report.comparison
    names = charted(comparison.headline)
    canvas = Canvas(WIDE, palette)
    height = HEADING + INTERVAL_ROW * len(comparison.contenders) + AXIS
    for figure, top, track in panels(names, height):
        room = track.end - track.start
        canvas.text(
            (track.start, top + LARGE),
            figure_name(figure, comparison.scale),
            size=LARGE,
            room=room,
        )
        for number, contender in enumerate(comparison.contenders):
            row = top + HEADING + number * INTERVAL_ROW
            said, estimate = _value(contender, figure), contender.estimates[figure]
            track.named(canvas, row + 14, contender.run.name, said, NORMAL)
            track.rule(canvas, row + MARK)
            if estimate.figure.so_far:
                track.band(canvas, estimate.figure, row + MARK)
            else:
                track.estimate(canvas, estimate.figure.settled, estimate.interval, row + MARK)
        track.labels(canvas, top + height - AXIS + SMALL + 2)
    bottom = below(names, height)
    share = notation.percent(CONFIDENCE)
    key = gettext("Dot: the figure. Line: its %(share)s interval over questions.", share=share)
    if any(one.estimates[name].figure.so_far for one in comparison.contenders for name in names):
        key += " " + gettext(
            "Hollow: not everything is rated. From where to where the figure can still come."
        )
    bottom += canvas.paragraph((0, bottom), key, room=WIDE)
    title = gettext("Figures of each run with %(share)s intervals", share=share)
    described = []
    for figure in names:
        values = (f"{c.run.name} {_value(c, figure)}" for c in comparison.contenders)
        described.append(f"{figure_name(figure, comparison.scale)}: {'; '.join(values)}.")
    return canvas.picture("intervals", title, " ".join(described), bottom + 4)


def _value(contender: Contender, figure: str) -> str:
    estimate = contender.estimates[figure]
    cell = in_words(estimate.figure, unit_of(figure))
    if cell.is_open or estimate.figure.settled is None:
        return f"{cell.text} {cell.n}"
    value = value_with_interval(estimate.figure.settled, estimate.interval, unit_of(figure))
    return f"{value} {cell.n}"


MOST = 60
"""So many questions are drawn one by one; of more, it is drawn how many differ how far."""

QUESTION_ROW = 22.0
BINS = 5
"""Differences are counted in so many steps either side of none."""

SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


class Pairs(Struct, frozen=True):
    """The questions for which two runs have a value, with both, the first run's wins first.

    ``name`` is unique on a page, false negatives are at 0, ``without`` counts what is left out.
    """

    name: str
    first: str
    second: str
    pairs: tuple[tuple[ComparedQuestionLine, float, float], ...]
    without: int

    @property
    def apart(self) -> list[float]:
        return [round(first - second, 9) for _, first, second in self.pairs]

    @property
    def counts(self) -> tuple[int, int, int]:
        wins, losses = (sum(sign * one > 0 for one in self.apart) for sign in (1, -1))
        return wins, len(self.pairs) - wins - losses, losses


def draw_questions(
    report: ComparisonReport,
    palette: Palette = PAGE,
    *,
    pair: Sequence[str] = (),
) -> Picture:
    """Return the differences between two runs, by their ids; unnamed, the first two."""
    comparison = report.comparison
    found = _pairs(comparison, pair)
    canvas = Canvas(WIDE, palette)
    foot = 0.0
    if found.pairs:
        draw_pairs = _bars if len(found.pairs) > MOST else _lines
        foot = draw_pairs(canvas, found, _questions_key(canvas, found))
    for said in _remarks(found, comparison.lead):
        foot += canvas.paragraph((0, foot), said, room=WIDE)
    return canvas.picture(
        f"questions-{found.name}",
        gettext(
            "%(figure)s by question: %(first)s and %(second)s",
            figure=figure_name(comparison.lead, comparison.scale),
            first=found.first,
            second=found.second,
        ),
        _description(found),
        foot + 4,
    )


def _pairs(comparison: Comparison, chosen: Sequence[str]) -> Pairs:
    ids = [contender.run.run for contender in comparison.contenders]
    one, other = chosen or (ids[0], ids[1])
    first, second = ids.index(one), ids.index(other)
    pairs: list[tuple[ComparedQuestionLine, float, float]] = []
    lead = comparison.lead
    for line in comparison.questions:
        answers = (line.answers[first], line.answers[second])
        values = [
            None
            if query is None
            else value_of(query, lead, false_negatives_at_zero=lead in HEADLINES)
            for query in answers
        ]
        if values[0] is not None and values[1] is not None:
            pairs.append((line, values[0], values[1]))
    pairs.sort(key=lambda pair: (-round(pair[1] - pair[2], 9), -pair[1], pair[0].position))
    without = len(comparison.questions) - len(pairs)
    names = comparison.names[one], comparison.names[other]
    return Pairs(f"{first}-{second}", *names, tuple(pairs), without)


def _questions_key(canvas: Canvas, found: Pairs) -> float:
    wins, ties, losses = found.counts
    single = len(found.pairs) <= MOST
    entries: list[tuple[Callable[[Canvas, Point], None], str]] = []
    if single:
        entries = [(Canvas.dot, found.first), (_square, found.second)]
    entries += [
        (_up, _times(gettext("%(name)s higher", name=found.first), wins)),
        (_level, _times(gettext("level"), ties)),
        (_down, _times(gettext("%(name)s higher", name=found.second), losses)),
    ]
    room = canvas.width / 2 - 24
    rows = ceil(len(entries) / 2)
    for number, (mark, said) in enumerate(entries):
        left = (number // rows) * canvas.width / 2
        base = NORMAL + (number % rows) * NORMAL * LINE
        mark(canvas, (left + 7, base - 4))
        canvas.text((left + 20, base), said, size=SMALL, room=room)
    return rows * NORMAL * LINE + 10


def _times(what: str, count: int) -> str:
    return ngettext("%(n)s question: %(what)s", "%(n)s questions: %(what)s", count, what=what)


def _lines(canvas: Canvas, found: Pairs, top: float) -> float:
    label = canvas.width * 0.46
    track = Track(label + EDGE, canvas.width - 26 - EDGE, 1.0)
    foot = top + QUESTION_ROW * len(found.pairs)
    for tick in track.ticks:
        where = track.at(tick)
        canvas.line((where, top), (where, foot), stroke="rule")
    track.labels(canvas, foot + SMALL + 2)
    for number, ((line, one, other), apart) in enumerate(
        zip(found.pairs, found.apart, strict=True)
    ):
        middle = top + (number + 0.5) * QUESTION_ROW
        base = middle + 4
        canvas.text((28, base), str(line.position), size=SMALL, fill="soft", anchor="end")
        canvas.text((36, base), line.question, room=track.start - 44)
        first, second = (track.at(one), middle), (track.at(other), middle)
        if apart > 0:
            canvas.line(first, second, stroke="accent", width=3)
        elif apart < 0:
            canvas.line(first, second, stroke="bad", width=2, dash="4 3")
        _square(canvas, second)
        canvas.dot(first)
        mark = _up if apart > 0 else _down if apart < 0 else _level
        mark(canvas, (canvas.width - 9, middle))
    return foot + 26


def _bars(canvas: Canvas, found: Pairs, top: float) -> float:
    steps = Counter(
        (1 if apart > 0 else -1) * ceil(round(abs(apart) * BINS, 6)) for apart in found.apart
    )
    tallest, height = max(steps.values()), 180.0
    column = canvas.width / (2 * BINS + 1)
    foot = top + 18 + height
    for step in range(-BINS, BINS + 1):
        left, tall = (step + BINS) * column + 2, height * steps[step] / tallest
        corner, size = (left, foot - tall), (column - 4, tall)
        if step > 0:
            canvas.box(corner, size, fill="accent")
        elif step < 0:
            canvas.box(corner, size, stroke="bad", hatched=True)
        else:
            canvas.box(corner, size, stroke="edge")
        centre, said = left + size[0] / 2, notation.number(steps[step])
        canvas.text((centre, corner[1] - 4), said, size=SMALL, anchor="middle", room=column)
        below = (centre, foot + SMALL + 4)
        canvas.text(below, _step(step), size=SMALL, fill="soft", anchor="middle")
    canvas.line((0, foot), (canvas.width, foot), stroke="edge")
    return foot + 28


def _step(step: int) -> str:
    """The far end of a step, in as few characters as possible.

    >>> _step(2), _step(0), _step(-5)
    ('0,4', '0', '−1')
    """
    size = notation.scale(round(abs(step) / BINS, 6))
    return f"{notation.MINUS}{size}" if step < 0 else size


def _remarks(found: Pairs, lead: str) -> Iterator[str]:
    if not found.pairs:
        yield gettext("No question has a value in both runs.")
    elif len(found.pairs) > MOST:
        yield gettext(
            "%(n)s questions by how far %(first)s lies above (to the right) or below "
            "(to the left) %(second)s: each bar up to the difference under it. The table "
            "names every question.",
            n=notation.number(len(found.pairs)),
            first=found.first,
            second=found.second,
        )
    if found.without:
        yield ngettext(
            "%(n)s question is left out: it has no value in one of the runs.",
            "%(n)s questions are left out: they have no value in one of the runs.",
            found.without,
        )
    if lead in HEADLINES:
        yield gettext("An empty list that should have had results counts as 0.")


def _description(found: Pairs) -> str:
    wins, ties, losses = found.counts
    counted = gettext(
        "%(first)s is higher than %(second)s on %(wins)s questions, level on %(ties)s, "
        "lower on %(losses)s.",
        first=found.first,
        second=found.second,
        wins=wins,
        ties=ties,
        losses=losses,
    )
    if len(found.pairs) > MOST:
        return counted
    listed = "; ".join(
        f"{line.position}: {notation.figure(first)} / {notation.figure(second)}"
        for line, first, second in found.pairs
    )
    return f"{counted} {listed}"


def _square(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    corners = [(x + 5.5 * across, y + 5.5 * down) for across, down in SQUARE]
    canvas.shape(corners, fill="paper", stroke="ink")


def _up(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.shape(((x, y - 5), (x + 5, y + 4), (x - 5, y + 4)), fill="accent")


def _down(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    canvas.shape(((x, y + 5), (x + 5, y - 4), (x - 5, y - 4)), stroke="bad")


def _level(canvas: Canvas, centre: Point) -> None:
    x, y = centre
    for down in (-2, 2):
        canvas.line((x - 5, y + down), (x + 5, y + down), stroke="soft", width=1.5)


KINDS = ("intervals", "questions")
"""Every picture, in the order in which a report shows them."""

MARGIN = 24.0

FORMATS: Mapping[str, tuple[Callable[[Picture], bytes], str]] = {
    "svg": (svg_file, "image/svg+xml"),
    "png": (png_file, "image/png"),
}
"""How every kind of picture file is written, and its media type, by its ending."""


def standalone(report: ComparisonReport, kind: str, pair: Sequence[str] = ()) -> Picture:
    """Return a picture on white, with its title above and who rated, and how, below."""
    if kind == "questions":
        found = draw_questions(report, PRINT, pair=pair)
    else:
        found = draw_intervals(report, PRINT)
    canvas = Canvas(found.width + 2 * MARGIN, PRINT)
    place, room = (MARGIN, MARGIN), found.width
    top = MARGIN + 12
    top += canvas.paragraph(place, found.title, room=room, size=LARGE, fill="ink", most=2)
    canvas.embed(found, (MARGIN, top))
    below = top + found.height + 8
    below += canvas.paragraph((MARGIN, below), words.provenance(report), room=room)
    if kind == "intervals":
        said = words.settings()
        below += canvas.paragraph((MARGIN, below), said, room=room)
    return canvas.picture(kind, found.title, found.description, below + MARGIN)


def file_name(report: ComparisonReport, kind: str, end: str, on: date) -> str:
    start = "" if report.phase is None else f"phase{report.phase}_"
    open_end = labels.file_ending(report.state) if report.state else ""
    return f"{start}comparison_{kind}_{file_day(on)}{open_end}.{end}"
