"""Every figure and column explained, chapter by chapter: the registries written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from webapp.i18n import gettext
from webapp.metrics.agreement.registry import COEFFICIENTS
from webapp.metrics.comparisons.registry import COMPARISON_MEASURES
from webapp.metrics.evaluations.automatic_registry import EVALUATIONS
from webapp.metrics.judging.figures import HEADLINES
from webapp.metrics.judging.registry import HEADLINE_ADVICE, MEASURES, Measure, ReadTogether
from webapp.metrics.phase_3.registry import MACHINE_ADVICE, MACHINE_MEASURES, USER_MEASURES


@dataclass(frozen=True, slots=True)
class Chapter:
    """Measures that belong together, with how to read them in pairs.

    ``name`` is for addresses; the title and every sentence of ``together`` and ``rules`` are in the
    language in force, the measures' own texts are message ids.
    """

    name: str
    title: str
    measures: tuple[Measure, ...]
    together: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def chapters() -> tuple[Chapter, ...]:
    """Return every measure of the product, each once."""
    headlines = {name: MEASURES[name] for name in HEADLINES}
    others = tuple(measure for name, measure in MEASURES.items() if name not in headlines)
    return (
        _chapter("headlines", gettext("Headline figures of a run"), headlines, HEADLINE_ADVICE),
        Chapter("columns", gettext("Other figures, and columns of the rated CSV"), others),
        _chapter("comparison", gettext("Comparison"), COMPARISON_MEASURES),
        _chapter("agreement", gettext("Inter-rater agreement"), COEFFICIENTS),
        _chapter("users", gettext("Users and their waiting"), USER_MEASURES),
        _chapter("machines", gettext("People beside machines"), MACHINE_MEASURES, MACHINE_ADVICE),
        *(
            _chapter(name, gettext(found.title), found.measures, found.advice, found.rules)
            for name, found in EVALUATIONS.items()
        ),
    )


def measures_markdown() -> str:
    """Return what every figure and column means, in Markdown, in the language in force."""
    title = gettext("What each number means")
    return "\n\n".join([f"# {title}", *map(_markdown, chapters())]) + "\n"


def read_together(advice: ReadTogether, measures: Mapping[str, Measure]) -> str:
    """One sentence of advice: the figures, the pattern, and what it means."""
    names = " / ".join(gettext(measures[name].label) for name in advice.figures)
    return f"{names}, {gettext(advice.pattern)}: {gettext(advice.meaning)}"


def _chapter(
    name: str,
    title: str,
    measures: Mapping[str, Measure],
    advice: Sequence[ReadTogether] = (),
    rules: Sequence[str] = (),
) -> Chapter:
    together = tuple(read_together(each, measures) for each in advice)
    return Chapter(name, title, tuple(measures.values()), together, tuple(map(gettext, rules)))


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
