"""Every figure and column explained, chapter by chapter: the registries written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter

from msgspec import Struct

from webapp.i18n import gettext
from webapp.metrics.agreement import registry as agreement_figures
from webapp.metrics.comparisons import registry as comparisons_figures
from webapp.metrics.evaluations import registry as evaluations_figures
from webapp.metrics.gold import registry as gold_figures
from webapp.metrics.judging import registry as judging_figures
from webapp.metrics.judging.registry import Measure, MeasureGroup, ReadTogether
from webapp.metrics.phase_3 import registry as phase_3_figures
from webapp.metrics.planning import registry as planning_figures
from webapp.notation import decimals

HALFWAY = (0.625, 0.375)
"""Values halfway between two of two decimals, whose even digit lies below and above."""


class Chapter(Struct, frozen=True):
    """Measures that belong together, with how to read them in pairs.

    ``name`` is for addresses; the title and every sentence of ``together`` and ``rules`` are in the
    language in force, the measures' own texts are message ids.
    """

    name: str
    title: str
    measures: tuple[Measure, ...]
    together: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


REGISTRIES = (
    judging_figures,
    agreement_figures,
    comparisons_figures,
    gold_figures,
    evaluations_figures,
    phase_3_figures,
    planning_figures,
)


def chapters() -> tuple[Chapter, ...]:
    """Return every measure of the product, each once."""
    groups: list[MeasureGroup] = [group for registry in REGISTRIES for group in registry.GROUPS]
    return tuple(_chapter(group) for group in sorted(groups, key=attrgetter("place")))


def measures_markdown() -> str:
    """Return the meaning of every figure and column, in Markdown, in the language in force."""
    title = gettext("What each number means")
    return "\n\n".join([f"# {title}", rounding(), *map(_markdown, chapters())]) + "\n"


def rounding() -> str:
    """Return how figures are rounded wherever they are shown, with an example of each direction."""
    down, up = ((decimals(value, 3), decimals(value, 2)) for value in HALFWAY)
    return gettext(
        "A figure is rounded only where it is shown. Halfway between two values it becomes the one "
        "with the even last digit: %(down)s is shown as %(to_down)s and "
        "%(up)s as %(to_up)s, where a spreadsheet always rounds up.",
        down=down[0],
        to_down=down[1],
        up=up[0],
        to_up=up[1],
    )


def read_together(advice: ReadTogether, measures: Mapping[str, Measure]) -> str:
    """One sentence of advice: the figures, the pattern, and what it means."""
    names = " / ".join(gettext(measures[name].label) for name in advice.figures)
    return f"{names}, {gettext(advice.pattern)}: {gettext(advice.meaning)}"


def _chapter(group: MeasureGroup) -> Chapter:
    return Chapter(
        name=group.name,
        title=gettext(group.title),
        measures=tuple(group.measures.values()),
        together=tuple(read_together(each, group.measures) for each in group.advice),
        rules=tuple(map(gettext, group.rules)),
    )


def _markdown(chapter: Chapter) -> str:
    parts = [f"## {chapter.title}", *map(_section, chapter.measures)]
    if chapter.together:
        heading = gettext("Read together")
        parts += [f"### {heading}", "\n".join(f"- {said}" for said in chapter.together)]
    if chapter.rules:
        parts += [f"### {gettext('Rules of thumb')}", "\n".join(f"- {r}" for r in chapter.rules)]
    return "\n\n".join(parts)


def _section(measure: Measure) -> str:
    return "\n".join([f"### {gettext(measure.label)}", "", *_lines(measure)])


def _lines(measure: Measure) -> Iterator[str]:
    yield gettext(measure.meaning)
    yield ""
    yield f"- {gettext('Name')}: `{measure.name}` ({measure.unit})"
    if measure.formula:
        yield f"- {gettext('Formula')}: {gettext(measure.formula)}"
    if measure.denominator:
        yield f"- {gettext('Denominator')}: {gettext(measure.denominator)}"
    for case in measure.edge_cases:
        yield f"- {gettext(case)}"
    if measure.reading:
        heading = gettext("How to read it")
        yield f"- {heading}: {gettext(measure.reading)}"
    if measure.source:
        yield f"- {gettext('Source')}: {measure.source}"
