"""The README.md of a data set: what it holds, who judged it, how, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from webapp import labels, notation
from webapp.exporters.exports.judged_results import JudgedResult, graded
from webapp.exporters.exports.metrics_tables import said_blindness, said_seconds, said_unasked
from webapp.exporters.frame.tables import escaped
from webapp.i18n import gettext, language
from webapp.metrics.agreement.registry import COEFFICIENTS, coefficients
from webapp.metrics.agreement.report import KindAgreement
from webapp.metrics.judging.figures import RunReport

IN_CARD = ("raw", "quadratic_kappa", "krippendorff_alpha")
"""The coefficients of agreement that a card states."""


def dataset_card(
    report: RunReport,
    *,
    title: str,
    guidelines: str,
    agreement: KindAgreement,
    results: Sequence[JudgedResult],
) -> str:
    """Return the card in the language in force; the licence is for the owner to fill in."""
    counts = Counter(grade for _, grade in graded(results))
    unsure = sum(one.verdict == "unsure" for one in results)
    fields = {
        gettext("Questions"): notation.number(len(report.rows)),
        gettext("Items"): notation.number(len({one.docno for one in results if one.document})),
        gettext("Judgments"): notation.number(counts.total()),
        gettext("Cannot tell"): gettext("%(n)s, left out", n=notation.number(unsure)),
        gettext("Scale"): "; ".join(_grades(report, counts)),
        gettext("Relevant"): gettext("from grade %(grade)s", grade=report.scale.relevant_from),
        gettext("Raters"): ", ".join(agreement.raters) or "-",
        gettext("Rule"): labels.rule(report.rule),
        gettext("How it was judged"): " ".join(
            filter(None, (said_blindness(report.blindness), said_seconds(report.seconds)))
        )
        or "-",
        gettext("Agreement"): "; ".join(_agreement(agreement)),
        gettext("Version of the guidelines"): (
            f"SHA-256 {sha256(guidelines.encode()).hexdigest()[:16]}" if guidelines else "-"
        ),
        gettext("Licence"): gettext("not stated: to be filled in before this is passed on"),
    }
    lines = [
        *("---", f"language: {language()}", "license: unknown", "task_categories:"),
        *("- text-retrieval", "---", "", f"# {escaped(title)}", ""),
        *(f"- **{name}**: {escaped(text)}" for name, text in fields.items()),
        *(f"- {escaped(text)}" for text in said_unasked(report.unasked)),
        "",
        gettext(
            "`corpus.jsonl` has the items, `queries.jsonl` the questions, and `qrels/test.tsv` the "
            "grades: the layout of BEIR."
        ),
    ]
    return "\n".join(lines) + "\n"


def _grades(report: RunReport, counts: Counter[int]) -> Iterator[str]:
    scale = report.scale
    for grade in range(scale.top + 1):
        word = f" ({scale.words[grade]})" if scale.words else ""
        guidance = f", {scale.guidance[grade]}" if scale.guidance else ""
        yield f"{grade}{word}{guidance}: {notation.number(counts[grade])}"


def _agreement(found: KindAgreement) -> Iterator[str]:
    known = coefficients(found.overall)
    for name in IN_CARD:
        if one := known.get(name):
            value = notation.figure(one.value, COEFFICIENTS[name].unit)
            yield f"{gettext(COEFFICIENTS[name].label)} {value} (n = {notation.number(one.n)})"
