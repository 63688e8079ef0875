"""The report of rated runs: their figures, what these mean in words, and the references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from webapp.exporters.exports.measures import read_together
from webapp.exporters.exports.metrics_tables import metrics_markdown
from webapp.exporters.frame.tables import escaped
from webapp.i18n import gettext
from webapp.metrics.judging.figures import HEADLINES, RunReport
from webapp.metrics.judging.registry import HEADLINE_ADVICE, MEASURES, REFERENCES, measure_of


def runs_markdown(reports: Sequence[tuple[str, RunReport]]) -> bytes:
    """Return the figures of all runs in the language in force; each comes with its name."""
    title, figures = gettext("Evaluation report"), gettext("What the figures mean")
    table, pairs, works = (
        gettext("How the table is read"),
        gettext("Read together"),
        gettext("References"),
    )
    parts = [
        f"# {title}",
        *(_figures(name, report) for name, report in reports),
        f"## {figures}",
        _listed(_meanings()),
        f"### {table}",
        _listed(_conventions()),
        f"### {pairs}",
        _listed(read_together(advice, MEASURES) for advice in HEADLINE_ADVICE),
        f"## {works}",
        _listed(REFERENCES),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _figures(name: str, report: RunReport) -> str:
    return metrics_markdown(replace(report, run=name)).replace("# ", "## ", 1).rstrip()


def _meanings() -> Iterator[str]:
    """Yield a paragraph for each headline figure: its meaning, its denominator, its reading."""
    formula, denominator = gettext("Formula"), gettext("Denominator")
    for figure in HEADLINES:
        measure = measure_of(figure)
        texts = (
            gettext(measure.meaning),
            f"{formula}: {gettext(measure.formula)}.",
            f"{denominator}: {gettext(measure.denominator)}.",
            gettext(measure.reading) if measure.reading else "",
        )
        yield f"{gettext(measure.label)}: {' '.join(filter(None, texts))}"


def _conventions() -> Iterator[str]:
    yield gettext(
        "n is the number of questions behind a value: the precisions and MRR are means over the "
        "questions with results, the success rate and the coverage are over all questions."
    )
    yield gettext(
        "While the rating is incomplete, a value is provisional: it is over the complete "
        "questions only, n of how many. What it is at least and at most once all is rated is over "
        "all questions, with every open judgment not relevant or relevant, so the value so far "
        "may lie outside; at the end all three coincide."
    )
    yield gettext(
        '"-" means undefined: there is nothing to compute the value from. It does not mean 0.'
    )


def _listed(texts: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(f"- {escaped(text)}" for text in texts)
