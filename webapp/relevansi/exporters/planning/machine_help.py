"""People with a machine's help as sentences, tables and plain values, for the page and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from relevansi import labels, notation
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import (
    Cell,
    ColumnOf,
    Section,
    Table,
    estimated,
    numbers,
    stacked,
    table_of,
)
from relevansi.exporters.planning.samples import rule_json, rule_text
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.planning.assisted import (
    PART,
    WORTHLESS,
    HelpedFigure,
    MachineHelp,
    MeanEstimate,
    Unassisted,
)

REASONS = {
    Unassisted.FEW_SAMPLED: mark("Fewer than two sampled questions have a value."),
    Unassisted.NONE_UNSAMPLED: mark("Every question was sampled: nothing is left for the machine."),
    Unassisted.MACHINE_OPEN: mark("The machine has cards left."),
    Unassisted.MACHINE_CONSTANT: mark("The machine gives every question the same value."),
}
"""Why a figure has no estimate with help, as message ids."""


def section(report: MachineHelp) -> Section:
    """Return the figures that people judged on a sample, with a machine's help where it has one."""
    figures = [line for line in report.figures if line.second is None]
    differences = [line for line in report.figures if line.second is not None]
    about_figures = gettext("Figures by people with a machine's help")
    about_differences = gettext("Differences by people with a machine's help")
    tables = (
        _table(report, "figures", about_figures, figures),
        _table(report, "differences", about_differences, differences),
    )
    return Section(
        PART,
        gettext("People with a machine's help"),
        (_basis(report), *_warnings(report)),
        tuple(table for table in tables if table.rows),
    )


def part_json(report: MachineHelp) -> dict[str, Any]:
    """Return the figures as plain values.

    ``{machine, people_rule, valid, rule: {kind, seed, chosen_at, verdicts_before, n, of, sample,
    ...} or null, questions, machine_open, interval, figures: [{figure, first, second, n, of,
    waiting, value, low, high, weight, share_saved, correlation, alone: {value, low, high},
    confidence, why}]}``; ``second`` is null for a figure of one run, ``interval`` is {method,
    confidence}.
    """
    return {
        "machine": report.machine,
        "people_rule": report.rule,
        "valid": report.is_valid,
        "rule": rule_json(report.sampling),
        **fields(report, "questions", "machine_open"),
        "interval": {"method": "PPI++, score", "confidence": CONFIDENCE},
        "figures": [
            {
                **fields(line, "figure", "first", "second"),
                **fields(line.mean, "n", "of"),
                "waiting": line.waiting,
                **_estimate_json(line.mean.assisted),
                **fields(line.mean, "weight", "share_saved", "correlation"),
                "alone": _estimate_json(line.mean.alone),
                "moments": line.mean.moments,
                "confidence": CONFIDENCE,
                "why": str(line.mean.why) if line.mean.why else None,
            }
            for line in report.figures
        ],
    }


def _estimate_json(estimate: MeanEstimate | None) -> dict[str, float | None]:
    if estimate is None:
        return {"value": None, "low": None, "high": None}
    bounds = estimate.interval
    return {"value": estimate.value, "low": bounds.lower, "high": bounds.upper}


def _basis(report: MachineHelp) -> str:
    rule = labels.rule(report.rule)
    if report.machine is None:
        sentence = gettext(
            "People judged a sample; their verdicts are merged by: %(rule)s.", rule=rule
        )
    else:
        sentence = gettext(
            "%(machine)s (machine) judged all questions, people a sample of them; their verdicts "
            "are merged by: %(rule)s.",
            machine=report.machine,
            rule=rule,
        )
    return sentence if report.sampling is None else f"{sentence} {rule_text(report.sampling)}"


def _warnings(report: MachineHelp) -> Iterator[str]:
    """Yield why estimates may not hold: no sample before judging, open cards, a weak machine."""
    if report.sampling is None:
        yield gettext(
            "Not valid: no sample was drawn before people judged. The questions that people have "
            "judged are taken as if they had been drawn at random."
        )
    elif not report.sampling.beforehand:
        yield ngettext(
            "Not valid: the sample was drawn after people had given %(n)s verdict.",
            "Not valid: the sample was drawn after people had given %(n)s verdicts.",
            report.sampling.verdicts_before,
        )
    if report.machine is not None and report.machine_open:
        yield gettext(
            "%(machine)s has cards left in %(n)s of %(of)s questions. It can help once it has "
            "judged every card.",
            machine=report.machine,
            n=report.machine_open,
            of=report.questions,
        )
    n_waiting = max((line.waiting for line in report.figures), default=0)
    if n_waiting:
        yield ngettext(
            "%(n)s sampled question waits for verdicts of people; the figures are those so far.",
            "%(n)s sampled questions wait for verdicts of people; the figures are those so far.",
            n_waiting,
        )
    worthless = []
    for line in report.figures:
        # Of many runs the pairs are left out, which would make the sentence a table.
        is_named = line.second is None or len(report.names) == 2
        if is_named and line.mean.weight is not None and line.mean.weight < WORTHLESS:
            worthless.append(_name(report, line))
    if worthless:
        yield gettext(
            "The machine helps nothing with: %(figures)s. Its weight is near 0, so people must "
            "judge as much as without it.",
            figures="; ".join(worthless),
        )


def _table(report: MachineHelp, name: str, heading: str, lines: Sequence[HelpedFigure]) -> Table:
    parts = (gettext("Value"), gettext("Lower"), gettext("Upper"))
    method = gettext(
        "Weight: 0 is a machine that is worth nothing here, 1 one that counts in full. Judging "
        "saved: the share of questions that people need not judge for an interval of the same "
        "width. Method: PPI++ (Angelopoulos, Duchi & Zrnic 2023), with the 95% interval of every "
        "figure from its variance."
    )
    columns: list[ColumnOf[HelpedFigure]] = [(gettext("Figure"), partial(_name, report))]
    if report.machine is not None:
        columns.append((numbers(gettext("People with a machine's help"), *parts), _assisted))
    columns += [
        (numbers(gettext("People alone, same sample"), *parts), _alone),
        (numbers(gettext("Sampled"), "n", "N"), _sampled),
    ]
    if report.machine is not None:
        columns += [
            (numbers(gettext("Weight of the machine")), _weight),
            (numbers(gettext("Correlation with people")), _correlation),
            (numbers(gettext("Judging saved")), _saved),
        ]
    return table_of(f"{PART}_{name}", heading, lines, columns, method, _basis(report))


def _alone(line: HelpedFigure) -> Cell:
    return _estimate(line, line.mean.alone)


def _sampled(line: HelpedFigure) -> Cell:
    n, of = line.mean.n, line.mean.of
    return Cell(gettext("%(n)s of %(of)s", n=n, of=of), (n, of))


def _assisted(line: HelpedFigure) -> Cell:
    estimate = line.mean
    if estimate.assisted is None and estimate.why is not None:
        return stacked((notation.UNDEFINED, gettext(REASONS[estimate.why])), (None, None, None))
    return _estimate(line, estimate.assisted)


def _weight(line: HelpedFigure) -> Cell:
    return Cell(notation.figure(line.mean.weight, "coefficient"), (line.mean.weight,))


def _correlation(line: HelpedFigure) -> Cell:
    return Cell(notation.figure(line.mean.correlation, "coefficient"), (line.mean.correlation,))


def _saved(line: HelpedFigure) -> Cell:
    share = line.mean.share_saved
    return Cell(notation.UNDEFINED if share is None else f"{round(100 * share)}%", (share,))


def _estimate(line: HelpedFigure, estimate: MeanEstimate | None) -> Cell:
    if estimate is None:
        return Cell(notation.UNDEFINED, (None, None, None))
    unit, is_difference = unit_of(line.figure), line.second is not None
    bounds = estimate.interval.lower, estimate.interval.upper
    return estimated(estimate.value, *bounds, unit, is_difference=is_difference)


def _name(report: MachineHelp, line: HelpedFigure) -> str:
    figure, first = figure_name(line.figure), report.names[line.first]
    if line.second is None:
        return f"{figure}, {first}"
    return f"{figure}, {first} − {report.names[line.second]}"
