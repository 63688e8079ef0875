"""Every figure and column explained, as one document: the registry written out."""

from __future__ import annotations

from collections.abc import Iterator

from webapp.i18n import gettext
from webapp.metrics.figures import HEADLINES
from webapp.metrics.registry import MEASURES, Measure


def measures_markdown() -> str:
    """Return what every figure and column means, in Markdown, in the language in force."""
    parts = [f"# {gettext('What each number means')}", gettext("Headline figures of a run:")]
    parts += [_section(measure) for name, measure in MEASURES.items() if name in HEADLINES]
    parts.append(gettext("Other figures, and columns of the rated CSV:"))
    parts += [_section(measure) for name, measure in MEASURES.items() if name not in HEADLINES]
    return "\n\n".join(parts) + "\n"


def _section(measure: Measure) -> str:
    return "\n".join([f"## {gettext(measure.label)}", "", *_lines(measure)])


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
    if measure.source:
        yield f"- {gettext('Source')}: {measure.source}"
