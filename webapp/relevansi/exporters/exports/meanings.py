"""What every number of the product means, as a page of Markdown and as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from operator import attrgetter

from relevansi.i18n import gettext
from relevansi.metrics.judging.registry import (
    FEATURES,
    Measure,
    MeasureGroup,
    ReadTogether,
    read_groups,
)
from relevansi.notation import decimals


def chapters() -> list[MeasureGroup]:
    """Return every measure of the product once, in groups, in the order of the documentation."""
    groups = chain.from_iterable(read_groups(feature).values() for feature in FEATURES)
    return sorted(groups, key=attrgetter("place"))


def measures_markdown() -> str:
    """Return the meaning of every figure and column, in Markdown, in the language in force."""
    parts = [f"# {gettext('What each number means')}", rounding()]
    for group in chapters():
        parts.append(f"## {gettext(group.title)}")
        parts += ["\n".join(_explained(measure)) for measure in group.measures.values()]
        if group.advice:
            lines = [f"- {read_together(each, group.measures)}" for each in group.advice]
            parts += [f"### {gettext('Read together')}", "\n".join(lines)]
        if group.rules:
            lines = [f"- {gettext(rule)}" for rule in group.rules]
            parts += [f"### {gettext('Rules of thumb')}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def rounding() -> str:
    """Return how figures are rounded wherever they are shown, with an example."""
    return gettext(
        "A figure is rounded only where it is shown, and in CSV: halves up, as by hand. %(half)s "
        "is shown as %(shown)s. JSON has every digit.",
        half=decimals(0.625, 3),
        shown=decimals(0.625, 2),
    )


def read_together(advice: ReadTogether, measures: Mapping[str, Measure]) -> str:
    """One sentence of advice: the figures, the pattern, and what it means."""
    names = " / ".join(gettext(measures[name].label) for name in advice.figures)
    return f"{names}, {gettext(advice.pattern)}: {gettext(advice.meaning)}"


def _explained(measure: Measure) -> Iterator[str]:
    yield from (f"### {gettext(measure.label)}", "", gettext(measure.meaning), "")
    yield f"- {gettext('Name')}: `{measure.name}` ({measure.unit})"
    if measure.formula:
        yield f"- {gettext('Formula')}: {gettext(measure.formula)}"
    if measure.denominator:
        yield f"- {gettext('Denominator')}: {gettext(measure.denominator)}"
    for case in measure.edge_cases:
        yield f"- {gettext(case)}"
    if measure.reading:
        yield f"- {gettext('How to read it')}: {gettext(measure.reading)}"
    if measure.source:
        yield f"- {gettext('Source')}: {measure.source}"
