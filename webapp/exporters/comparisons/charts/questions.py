"""Two runs question by question: how far each P@5 lies from the other, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import ceil

from msgspec import Struct

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts.canvas import (
    LINE,
    NORMAL,
    SMALL,
    WIDE,
    Canvas,
    Palette,
    Picture,
    Point,
)
from webapp.exporters.comparisons.charts.tracks import EDGE, Track
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.comparisons import Comparison, ComparisonReport
from webapp.metrics.comparisons.differences import value_of

FIGURE = "mean_precision_at_5"
MOST = 60
"""So many questions are drawn one by one; of more, it is drawn how many differ how far."""

ROW = 22.0
BINS = 5
"""Differences are counted in so many steps either side of none."""

SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


class QuestionPair(Struct, frozen=True):
    """One question's P@5 in two runs, false negatives at 0."""

    position: int
    question: str
    first: float
    second: float

    @property
    def apart(self) -> float:
        """The first run's value minus the second's."""
        return round(self.first - self.second, 9)


class Pairs(Struct, frozen=True):
    """The questions that two runs have a value for, the first run's wins first.

    ``name`` identifies the pair by the runs' places in the comparison.
    """

    name: str
    first: str
    second: str
    pairs: tuple[QuestionPair, ...]
    without: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Wins, ties and losses of the first run."""
        wins = sum(pair.apart > 0 for pair in self.pairs)
        losses = sum(pair.apart < 0 for pair in self.pairs)
        return wins, len(self.pairs) - wins - losses, losses


def draw(
    report: ComparisonReport,
    palette: Palette,
    width: float = WIDE,
    *,
    pair: tuple[str, str] | None = None,
) -> Picture:
    """Return the differences between two runs, by their ids; unnamed, the first two."""
    comparison = report.comparison
    found = _pairs(comparison, pair)
    canvas = Canvas(width, palette)
    foot = 0.0
    if found.pairs:
        draw_pairs = _bars if len(found.pairs) > MOST else _lines
        foot = draw_pairs(canvas, found, _key(canvas, found))
    for said in _remarks(found):
        foot += canvas.paragraph((0, foot), said, room=width)
    return canvas.picture(
        f"questions-{found.name}",
        gettext(
            "%(figure)s by question: %(first)s and %(second)s",
            figure=words.figure_name(FIGURE),
            first=found.first,
            second=found.second,
        ),
        _description(found),
        foot + 4,
    )


def counted(comparison: Comparison, pair: tuple[str, str]) -> str:
    """Return on how many questions the first of two runs, by their ids, is higher, level, lower."""
    return _counted(_pairs(comparison, pair))


def _pairs(comparison: Comparison, chosen: tuple[str, str] | None) -> Pairs:
    ids = [contender.run.run for contender in comparison.contenders]
    one, other = chosen or (ids[0], ids[1])
    first, second = ids.index(one), ids.index(other)
    pairs = []
    for line in comparison.questions:
        answers = (line.answers[first], line.answers[second])
        values = [
            None if query is None else value_of(query, FIGURE, false_negatives_at_zero=True)
            for query in answers
        ]
        if values[0] is not None and values[1] is not None:
            pairs.append(QuestionPair(line.position, line.question, values[0], values[1]))
    pairs.sort(key=lambda pair: (-pair.apart, -pair.first, pair.position))
    without = len(comparison.questions) - len(pairs)
    names = comparison.name(one), comparison.name(other)
    return Pairs(f"{first}-{second}", *names, tuple(pairs), without)


def _key(canvas: Canvas, found: Pairs) -> float:
    """Draw the key, one line for each mark; return the height at which the picture goes on."""
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
    columns = 2 if canvas.width >= WIDE else 1
    room = canvas.width / columns - 24
    rows = ceil(len(entries) / columns)
    for number, (mark, said) in enumerate(entries):
        left = (number // rows) * canvas.width / columns
        base = NORMAL + (number % rows) * NORMAL * LINE
        mark(canvas, (left + 7, base - 4))
        canvas.text((left + 20, base), said, size=SMALL, room=room)
    return rows * NORMAL * LINE + 10


def _times(what: str, count: int) -> str:
    return ngettext("%(n)s question: %(what)s", "%(n)s questions: %(what)s", count, what=what)


def _lines(canvas: Canvas, found: Pairs, top: float) -> float:
    """One line per question: both values on a track, joined, and which is higher."""
    label = canvas.width * (0.46 if canvas.width >= WIDE else 0.42)
    track = Track(label + EDGE, canvas.width - 26 - EDGE, 1.0, few=canvas.width < WIDE)
    foot = top + ROW * len(found.pairs)
    for tick in track.ticks:
        where = track.at(tick)
        canvas.line((where, top), (where, foot), stroke="rule")
    track.labels(canvas, foot + SMALL + 2)
    for number, pair in enumerate(found.pairs):
        _line(canvas, track, pair, top + (number + 0.5) * ROW)
    return foot + 26


def _line(canvas: Canvas, track: Track, pair: QuestionPair, middle: float) -> None:
    base = middle + 4
    canvas.text((28, base), str(pair.position), size=SMALL, fill="soft", anchor="end")
    canvas.text((36, base), pair.question, room=track.start - 44)
    first, second = (track.at(pair.first), middle), (track.at(pair.second), middle)
    if pair.apart > 0:
        canvas.line(first, second, stroke="accent", width=3)
    elif pair.apart < 0:
        canvas.line(first, second, stroke="bad", width=2, dash="4 3")
    _square(canvas, second)
    canvas.dot(first)
    mark = _up if pair.apart > 0 else _down if pair.apart < 0 else _level
    mark(canvas, (canvas.width - 9, middle))


def _bars(canvas: Canvas, found: Pairs, top: float) -> float:
    """How many questions differ how far: bars from far below to far above, level by itself."""
    steps = Counter(
        (1 if pair.apart > 0 else -1) * ceil(round(abs(pair.apart) * BINS, 6))
        for pair in found.pairs
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
            canvas.box(corner, size, stroke="bad", look="hatched")
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


def _remarks(found: Pairs) -> list[str]:
    remarks = []
    if not found.pairs:
        remarks.append(gettext("No question has a value in both runs."))
    elif len(found.pairs) > MOST:
        remarks.append(
            gettext(
                "%(n)s questions by how far %(first)s lies above (to the right) or below "
                "(to the left) %(second)s: each bar up to the difference under it. The table "
                "names every question.",
                n=notation.number(len(found.pairs)),
                first=found.first,
                second=found.second,
            )
        )
    if found.without:
        remarks.append(
            ngettext(
                "%(n)s question is left out: it has no value in one of the runs.",
                "%(n)s questions are left out: they have no value in one of the runs.",
                found.without,
            )
        )
    remarks.append(gettext("An empty list that should have had results counts as 0."))
    return remarks


def _counted(found: Pairs) -> str:
    wins, ties, losses = found.counts
    return gettext(
        "%(first)s is higher than %(second)s on %(wins)s questions, level on %(ties)s, "
        "lower on %(losses)s.",
        first=found.first,
        second=found.second,
        wins=wins,
        ties=ties,
        losses=losses,
    )


def _description(found: Pairs) -> str:
    counted = _counted(found)
    if len(found.pairs) > MOST:
        return counted
    listed = "; ".join(
        f"{pair.position}: {notation.figure(pair.first)} / {notation.figure(pair.second)}"
        for pair in found.pairs
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
