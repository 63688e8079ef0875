"""A sample of the questions, and the rule behind it, as sentences, a table and plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.json_files import fields, moment_json
from relevansi.exporters.frame.tables import Cell, Section, Table, numbers, stacked, table_of
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.intervals import CONFIDENCE, METHOD
from relevansi.metrics.planning.sampling import (
    PART,
    RULE_FIELDS,
    ChosenRule,
    QuestionSample,
    SampledFigure,
)

KINDS = {
    "fixed": mark("A sample of a size fixed beforehand"),
    "sequence": mark("A sample that grows until it is enough"),
    "machine_help": mark("People with a machine's help"),
}
"""The kinds of rules in words."""
ENDED = {
    "reached": mark("It reached its aim on %(when)s."),
    "replaced": mark("Another rule took its place on %(when)s."),
    "retired": mark("It ended on %(when)s, as rules of its kind were given up."),
    "stopped": mark("It was stopped on %(when)s."),
}
"""How rules ended, in words."""


def rule_text(rule: ChosenRule) -> str:
    """Return by which rule a sample was drawn, when, and whether before the first verdict."""
    return " ".join(_rule_sentences(rule))


def _rule_sentences(rule: ChosenRule) -> Iterator[str]:
    yield gettext(
        "Rule: %(kind)s, chosen %(when)s, seed %(seed)s.",
        kind=gettext(KINDS[rule.kind]),
        when=notation.day(rule.chosen_at.date()),
        seed=rule.seed,
    )
    n_drawn = len(rule.sample)
    if n_drawn:
        yield gettext("It drew %(n)s of %(of)s questions at random.", n=n_drawn, of=rule.of)
    if rule.beforehand:
        yield gettext("It was chosen before the first verdict.")
    else:
        yield ngettext(
            "It was chosen after %(n)s verdict of people.",
            "It was chosen after %(n)s verdicts of people.",
            rule.verdicts_before,
        )
    if rule.ended_at is not None:
        ended = ENDED.get(rule.outcome or "", ENDED["stopped"])
        yield gettext(ended, when=notation.day(rule.ended_at.date()))


def rule_json(rule: ChosenRule | None) -> dict[str, Any] | None:
    """Return a rule as plain values, with the numbers of the questions in the order drawn."""
    if rule is None:
        return None
    return {
        **fields(rule, *RULE_FIELDS),
        "chosen_at": rule.chosen_at.isoformat(),
        "ended_at": moment_json(rule.ended_at),
        "n": len(rule.sample),
        "of": rule.of,
        "sample": list(rule.sample),
    }


def section(sample: QuestionSample) -> Section:
    """Return how far a sample is rated, and the figures that its rule allows by now."""
    tables = (_table(sample),) if sample.figures else ()
    return Section(PART, gettext("Sampled questions"), tuple(_sentences(sample)), tables)


def _sentences(sample: QuestionSample) -> Iterator[str]:
    """Yield the rule of a sample, how far it is rated, and why it may have no intervals."""
    yield rule_text(sample.rule)
    rated = ngettext(
        "%(done)s of %(n)s question drawn is rated; the other questions are not asked.",
        "%(done)s of %(n)s questions drawn are rated; the other questions are not asked.",
        sample.drawn,
        done=notation.number(sample.rated),
    )
    if sample.rule.is_stratified:
        yield rated
        yield gettext(
            "The figures have no interval: this sample was drawn by category, and an interval is "
            "that of a simple random sample."
        )
    elif sample.rule.kind == "sequence":
        yield rated
        yield gettext(
            "The figures have no interval: this sample grew and could end for what it showed, "
            "which an interval of a fixed size does not allow for."
        )
    elif sample.rated < sample.drawn:
        yield f"{rated} {gettext('The figures follow when all are: the size was fixed.')}"
    else:
        yield rated


def drawn(sample: QuestionSample) -> str:
    """Return the numbers of the questions in the order in which they were drawn."""
    listed = ", ".join(map(str, sample.rule.sample))
    return gettext("Drawn, in this order: %(questions)s.", questions=listed)


def _table(sample: QuestionSample) -> Table:
    return table_of(
        "sample",
        gettext("Over all %(n)s questions, from the sample", n=notation.number(sample.rule.of)),
        sample.figures,
        (
            (gettext("Figure"), lambda line: figure_name(line.figure)),
            (gettext("Run, or pair of runs"), lambda line: " – ".join(line.runs)),
            (numbers(gettext("95% interval"), "value", "lower", "upper"), _estimate),
            (numbers("n"), lambda line: line.mean.values),
        ),
        gettext(
            "The interval of every figure, its half widths times √(1 − n/N): n of all N "
            "questions were drawn, and the size was fixed. n: questions with a value."
        ),
    )


def _estimate(line: SampledFigure) -> Cell:
    unit, value, interval = unit_of(line.figure), line.mean.value, line.mean.interval
    lower, upper = interval.lower, interval.upper
    is_pair = len(line.runs) > 1
    write = notation.difference if is_pair else notation.figure
    lines = (write(value, unit), notation.interval(lower, upper, unit, signed=is_pair))
    return stacked(lines, (value, lower, upper))


def part_json(sample: QuestionSample) -> dict[str, Any]:
    """Return a sample as plain values: its rule, how much is rated, its figures."""
    return {
        "rule": rule_json(sample.rule),
        "rated": sample.rated,
        "interval": {"method": f"{METHOD}, times sqrt(1 - n/N)", "confidence": CONFIDENCE},
        "figures": [
            {
                "figure": line.figure,
                "runs": list(line.runs),
                "value": line.mean.value,
                **asdict(line.mean.interval),
                "n": line.mean.values,
                **fields(line.mean, "drawn", "of"),
            }
            for line in sample.figures
        ],
    }
