"""People with a machine's help as sentences, tables and plain values, for the page and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import labels, notation
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import Cell, Column, Section, Table, numbers, stacked, word
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
    tables = (
        _table(report, "figures", gettext("Figures by people with a machine's help")),
        _table(report, "differences", gettext("Differences by people with a machine's help")),
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


def _table(report: MachineHelp, name: str, heading: str) -> Table:
    parts = (gettext("Value"), gettext("Lower"), gettext("Upper"))
    method = gettext(
        "Weight: 0 is a machine that is worth nothing here, 1 one that counts in full. Judging "
        "saved: the share of questions that people need not judge for an interval of the same "
        "width. Method: PPI++ (Angelopoulos, Duchi & Zrnic 2023), with the 95% interval of every "
        "figure from its variance."
    )
    columns: tuple[Column, ...] = (
        Column(gettext("Figure")),
        numbers(gettext("People alone, same sample"), *parts),
        numbers(gettext("Sampled"), "n", "N"),
    )
    if report.machine is not None:
        columns = (
            columns[0],
            numbers(gettext("People with a machine's help"), *parts),
            *columns[1:],
            numbers(gettext("Weight of the machine")),
            numbers(gettext("Correlation with people")),
            numbers(gettext("Judging saved")),
        )
    of_pairs = name == "differences"
    lines = [line for line in report.figures if (line.second is not None) == of_pairs]
    rows = tuple(_row(report, line) for line in lines)
    return Table(f"{PART}_{name}", heading, columns, rows, (method, _basis(report)))


def _row(report: MachineHelp, line: HelpedFigure) -> tuple[Cell, ...]:
    estimate, saved = line.mean, line.mean.share_saved
    n, of = estimate.n, estimate.of
    sampled = Cell(gettext("%(n)s of %(of)s", n=n, of=of), (n, of))
    if report.machine is None:
        return word(_name(report, line)), _estimate(line, estimate.alone), sampled
    assisted = _estimate(line, estimate.assisted)
    if estimate.assisted is None and estimate.why is not None:
        assisted = stacked((notation.UNDEFINED, gettext(REASONS[estimate.why])), (None, None, None))
    return (
        word(_name(report, line)),
        assisted,
        _estimate(line, estimate.alone),
        sampled,
        Cell(notation.figure(estimate.weight, "coefficient"), (estimate.weight,)),
        Cell(notation.figure(estimate.correlation, "coefficient"), (estimate.correlation,)),
        Cell(notation.UNDEFINED if saved is None else f"{round(100 * saved)}%", (saved,)),
    )


def _estimate(line: HelpedFigure, estimate: MeanEstimate | None) -> Cell:
    if estimate is None:
        return Cell(notation.UNDEFINED, (None, None, None))
    unit, is_difference = unit_of(line.figure), line.second is not None
    value = notation.difference if is_difference else notation.figure
    lower, upper = estimate.interval.lower, estimate.interval.upper
    interval = notation.interval(lower, upper, unit, signed=is_difference)
    values = (estimate.value, lower, upper)
    return stacked((value(estimate.value, unit), interval), values)


def _name(report: MachineHelp, line: HelpedFigure) -> str:
    figure, first = figure_name(line.figure), report.names[line.first]
    if line.second is None:
        return f"{figure}, {first}"
    return f"{figure}, {first} − {report.names[line.second]}"
