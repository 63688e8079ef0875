"""The summary of cited answers as tables and sentences, for the terminal and for reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webapp import notation
from webapp.exporters.comparison_tables import Cell, Column, Document, Section, Table
from webapp.exporters.measures import read_together
from webapp.i18n import gettext, mark
from webapp.metrics.answer_summary import AnswerFigure, AnswerSummary
from webapp.metrics.answers import SETTINGS, AnswerScale, WhyUndefined
from webapp.metrics.automatic_registry import ANSWER_MAIN, ANSWER_MEASURES, EVALUATIONS

_ANSWERS = EVALUATIONS["answers"]

WHY_UNDEFINED = {
    WhyUndefined.NO_EMBEDDER: mark(
        "No cosines: give claim_similarities in the file or choose an --embedder."
    ),
    WhyUndefined.NO_GOLD: mark("No answer has a gold answer."),
    WhyUndefined.NO_USAGE: mark("No answer states its tokens."),
    WhyUndefined.NO_LATENCY: mark("No answer states its latency."),
    WhyUndefined.NO_ROW: mark("No answer was scored."),
}


def answers_report(
    file: str, summary: AnswerSummary, scale: AnswerScale, notes: Iterable[str]
) -> Document:
    """The main table, the appendix, and how to read them, in the language in force."""
    settings = answer_settings(summary, scale)
    return Document(
        title=gettext(_ANSWERS.title),
        subtitle=file,
        sections=(
            Section("figures", gettext("Figures"), (), (main_table(summary),)),
            Section("reading", gettext("Read together"), answers_advice(), ()),
            Section("rules", gettext("Rules of thumb"), answers_rules(), ()),
            Section("settings", gettext("Settings"), (*settings, *notes), ()),
            Section("appendix", gettext("Appendix"), (), (appendix(summary),)),
        ),
    )


def main_table(summary: AnswerSummary) -> Table:
    """The figures of the main table, a judge's faithfulness beside the fallback."""
    figures = summary.figures()
    rows = {name: figures[name] for name in ANSWER_MAIN}
    return _table("main", gettext("Main table"), rows, summary)


def appendix(summary: AnswerSummary) -> Table:
    """The other figures."""
    rest = {n: found for n, found in summary.figures().items() if n not in ANSWER_MAIN}
    return _table("appendix", gettext("Appendix"), rest, summary)


def answer_settings(summary: AnswerSummary, scale: AnswerScale) -> tuple[str, ...]:
    """How the answers were scored, and how the file says they were generated."""
    cosines = gettext(
        "Cosines: %(embedder)s; tau_sim %(tau_sim)s.",
        embedder=summary.embedder(scale) or gettext("none"),
        tau_sim=f"{scale.tau_sim:g}",
    )
    citations = (
        gettext("Citations count as words in exact match and F1.")
        if scale.keep_citations
        else gettext("Citations are left out of exact match and F1.")
    )
    stated = {name: vars_of(found) for name, found in summary.settings.items()}
    return (cosines, citations, *stated_settings(stated))


def vars_of(found: object) -> dict[str, float]:
    """The least and greatest value of a setting and how many answers state it, by name."""
    return {name: getattr(found, name) for name in ("lowest", "highest", "n")}


def stated_settings(stated: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """One sentence for each setting of generation that the file states."""
    return tuple(
        gettext(
            "The file states %(name)s %(value)s (%(n)s answers).",
            name=name,
            value=_range(stated[name]["lowest"], stated[name]["highest"]),
            n=int(stated[name]["n"]),
        )
        for name in SETTINGS
        if name in stated
    )


def answers_advice() -> tuple[str, ...]:
    """Which figures of cited answers to read together, in sentences."""
    return tuple(read_together(one, _ANSWERS.measures) for one in _ANSWERS.advice)


def answers_rules() -> tuple[str, ...]:
    """The rules of thumb for cited answers."""
    return tuple(gettext(rule) for rule in _ANSWERS.rules)


def _table(
    name: str, title: str, figures: Mapping[str, AnswerFigure], summary: AnswerSummary
) -> Table:
    rows = []
    for key, figure in figures.items():
        measure = ANSWER_MEASURES[key]
        is_share = measure.unit == "ratio"
        rows.append(_row(gettext(measure.label), figure.value, figure.n, is_share=is_share))
        if key == "avg_faithfulness" and summary.judged.n:
            judged = summary.judged
            rows.append(_row(gettext("Faithfulness (judge)"), judged.value, judged.n))
    reasons = {figure.why_undefined for figure in figures.values() if figure.why_undefined}
    return Table(
        name=name,
        title=title,
        columns=(
            Column(gettext("Figure")),
            Column(gettext("Value"), numeric=True),
            Column("n", numeric=True),
        ),
        rows=tuple(rows),
        notes=tuple(f"-: {gettext(WHY_UNDEFINED[why])}" for why in WhyUndefined if why in reasons),
    )


def _row(label: str, value: float | None, n: int, *, is_share: bool = True) -> tuple[Cell, ...]:
    shown = notation.UNDEFINED
    if value is not None:
        shown = notation.four(value) if is_share else notation.number(round(value, 1))
    return Cell(label, (label,)), Cell(shown, (value,)), Cell(str(n), (n,))


def _range(lowest: float, highest: float) -> str:
    values = dict.fromkeys((notation.number(lowest), notation.number(highest)))
    return " - ".join(values)
