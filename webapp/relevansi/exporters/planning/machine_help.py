"""People with a machine's help as sentences, tables and plain values, for the page and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import labels, notation
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
    unit_of,
)
from relevansi.exporters.frame.tables import Cell, Column, Section, Table, stacked, word
from relevansi.exporters.planning.samples import rule_json, told
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


def section(found: MachineHelp) -> Section:
    made = (
        _table(found, "figures", gettext("Figures by people with a machine's help")),
        _table(found, "differences", gettext("Differences by people with a machine's help")),
    )
    return Section(
        PART,
        gettext("People with a machine's help"),
        (_basis(found), *_warnings(found)),
        tuple(table for table in made if table.rows),
    )


def part_json(found: MachineHelp) -> dict[str, Any]:
    """Return the figures as plain values.

    ``{machine, people_rule, valid, rule: {kind, seed, chosen_at, verdicts_before, n, of, sample,
    ...} or null, questions, machine_open, interval, figures: [{figure, first, second, n, of,
    waiting, value, low, high, weight, share_saved, correlation, alone: {value, low, high},
    confidence, why}]}``; ``second`` is null for a figure of one run, ``interval`` is {method,
    confidence}.
    """
    return {
        "machine": found.machine,
        "people_rule": found.rule,
        "valid": found.is_valid,
        "rule": rule_json(found.sampling),
        "questions": found.questions,
        "machine_open": found.machine_open,
        "interval": {
            "method": "PPI++, score",
            "confidence": CONFIDENCE,
        },
        "figures": [
            {
                **{name: getattr(one, name) for name in ("figure", "first", "second")},
                "n": one.found.n,
                "of": one.found.of,
                "waiting": one.waiting,
                **_estimate_json(one.found.assisted),
                "weight": one.found.weight,
                "share_saved": one.found.share_saved,
                "correlation": one.found.correlation,
                "alone": _estimate_json(one.found.alone),
                "moments": one.found.moments,
                "confidence": CONFIDENCE,
                "why": str(one.found.why) if one.found.why else None,
            }
            for one in found.figures
        ],
    }


def _estimate_json(estimate: MeanEstimate | None) -> dict[str, float | None]:
    if estimate is None:
        return {"value": None, "low": None, "high": None}
    bounds = estimate.interval
    return {"value": estimate.value, "low": bounds.lower, "high": bounds.upper}


def _basis(found: MachineHelp) -> str:
    rule = labels.rule(found.rule)
    if found.machine is None:
        said = gettext("People judged a sample; their verdicts are merged by: %(rule)s.", rule=rule)
    else:
        said = gettext(
            "%(machine)s (machine) judged all questions, people a sample of them; their verdicts "
            "are merged by: %(rule)s.",
            machine=found.machine,
            rule=rule,
        )
    return said if found.sampling is None else f"{said} {told(found.sampling)}"


def _warnings(found: MachineHelp) -> Iterator[str]:
    if found.sampling is None:
        yield gettext(
            "Not valid: no sample was drawn before people judged. The questions that people have "
            "judged are taken as if they had been drawn at random."
        )
    elif not found.sampling.beforehand:
        yield ngettext(
            "Not valid: the sample was drawn after people had given %(n)s verdict.",
            "Not valid: the sample was drawn after people had given %(n)s verdicts.",
            found.sampling.verdicts_before,
        )
    if found.machine is not None and found.machine_open:
        yield gettext(
            "%(machine)s has cards left in %(n)s of %(of)s questions. It can help once it has "
            "judged every card.",
            machine=found.machine,
            n=found.machine_open,
            of=found.questions,
        )
    if waiting := max((one.waiting for one in found.figures), default=0):
        yield ngettext(
            "%(n)s sampled question waits for verdicts of people; the figures are those so far.",
            "%(n)s sampled questions wait for verdicts of people; the figures are those so far.",
            waiting,
        )
    alone = [one for one in found.figures if one.second is None or len(found.names) == 2]
    weights = [(one, one.found.weight) for one in alone if one.found.weight is not None]
    if worthless := [_name(found, one) for one, weight in weights if weight < WORTHLESS]:
        yield gettext(
            "The machine helps nothing with: %(figures)s. Its weight is near 0, so people must "
            "judge as much as without it.",
            figures="; ".join(worthless),
        )


def _table(found: MachineHelp, name: str, heading: str) -> Table:
    parts = (gettext("Value"), gettext("Lower"), gettext("Upper"))
    method = gettext(
        "Weight: 0 is a machine that is worth nothing here, 1 one that counts in full. Judging "
        "saved: the share of questions that people need not judge for an interval of the same "
        "width. Method: PPI++ (Angelopoulos, Duchi & Zrnic 2023), with the 95% interval of every "
        "figure from its variance."
    )
    columns: tuple[Column, ...] = (
        Column(gettext("Figure")),
        Column(gettext("People alone, same sample"), numeric=True, parts=parts),
        Column(gettext("Sampled"), numeric=True, parts=("n", "N")),
    )
    if found.machine is not None:
        columns = (
            columns[0],
            Column(gettext("People with a machine's help"), numeric=True, parts=parts),
            *columns[1:],
            Column(gettext("Weight of the machine"), numeric=True),
            Column(gettext("Correlation with people"), numeric=True),
            Column(gettext("Judging saved"), numeric=True),
        )
    return Table(
        f"{PART}_{name}",
        heading,
        columns,
        tuple(
            _row(found, one) for one in found.figures if (one.second is None) == (name == "figures")
        ),
        (method, _basis(found)),
    )


def _row(help_: MachineHelp, one: HelpedFigure) -> tuple[Cell, ...]:
    found, saved = one.found, one.found.share_saved
    sampled = Cell(gettext("%(n)s of %(of)s", n=found.n, of=found.of), (found.n, found.of))
    if help_.machine is None:
        return word(_name(help_, one)), _estimate(one, found.alone), sampled
    assisted = _estimate(one, found.assisted)
    if found.assisted is None and found.why is not None:
        assisted = stacked((notation.UNDEFINED, gettext(REASONS[found.why])), (None, None, None))
    return (
        word(_name(help_, one)),
        assisted,
        _estimate(one, found.alone),
        sampled,
        Cell(notation.figure(found.weight, "coefficient"), (found.weight,)),
        Cell(notation.figure(found.correlation, "coefficient"), (found.correlation,)),
        Cell(notation.UNDEFINED if saved is None else f"{round(100 * saved)}%", (saved,)),
    )


def _estimate(one: HelpedFigure, estimate: MeanEstimate | None) -> Cell:
    if estimate is None:
        return Cell(notation.UNDEFINED, (None, None, None))
    unit, is_difference = unit_of(one.figure), one.second is not None
    value = notation.difference if is_difference else notation.figure
    lower, upper = estimate.interval.lower, estimate.interval.upper
    interval = notation.interval(lower, upper, unit, signed=is_difference)
    values = (estimate.value, lower, upper)
    return stacked((value(estimate.value, unit), interval), values)


def _name(help_: MachineHelp, one: HelpedFigure) -> str:
    figure, first = figure_name(one.figure), help_.names[one.first]
    if one.second is None:
        return f"{figure}, {first}"
    return f"{figure}, {first} − {help_.names[one.second]}"
