"""Every figure and column explained, as one document: the registry written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from webapp.i18n import gettext
from webapp.metrics.agreement_registry import COEFFICIENTS
from webapp.metrics.automatic_registry import EVALUATIONS, Evaluation, ReadTogether
from webapp.metrics.comparison_registry import COMPARISON_MEASURES
from webapp.metrics.figures import HEADLINES
from webapp.metrics.registry import MEASURES, Measure


def measures_markdown() -> str:
    """Return what every figure and column means, in Markdown, in the language in force."""
    parts = [f"# {gettext('What each number means')}", gettext("Headline figures of a run:")]
    parts += [_section(measure) for name, measure in MEASURES.items() if name in HEADLINES]
    parts.append(gettext("Other figures, and columns of the rated CSV:"))
    parts += [_section(measure) for name, measure in MEASURES.items() if name not in HEADLINES]
    parts.append(_group(gettext("Comparison"), COMPARISON_MEASURES))
    parts.append(_group(gettext("Inter-rater agreement"), COEFFICIENTS))
    parts += [_evaluation(evaluation) for evaluation in EVALUATIONS.values()]
    return "\n\n".join(parts) + "\n"


def read_together(advice: ReadTogether, measures: Mapping[str, Measure]) -> str:
    """One sentence of advice: the figures, the pattern, and what it means."""
    names = " / ".join(gettext(measures[name].label) for name in advice.figures)
    return f"{names}, {gettext(advice.pattern)}: {gettext(advice.meaning)}"


def _group(title: str, measures: Mapping[str, Measure]) -> str:
    sections = [_section(measure, "###") for measure in measures.values()]
    return "\n\n".join([f"## {title}", *sections])


def _evaluation(evaluation: Evaluation) -> str:
    measures = evaluation.measures
    advice = [f"- {read_together(each, measures)}" for each in evaluation.advice]
    together = gettext("Read together")
    return "\n\n".join(
        [
            f"## {gettext(evaluation.title)}",
            *[_section(measure, "###") for measure in measures.values()],
            f"### {together}",
            "\n".join(advice),
        ]
    )


def _section(measure: Measure, heading: str = "##") -> str:
    return "\n".join([f"{heading} {gettext(measure.label)}", "", *_lines(measure)])


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
