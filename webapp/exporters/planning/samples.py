"""A sample of the questions, and the rule behind it, as sentences, a table and plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import Cell, Column, Section, Table, stacked, word
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.planning.sampling import (
    FURTHER,
    PART,
    STATED,
    ChosenRule,
    QuestionSample,
    SampledFigure,
)

KINDS = {
    "by_effect": mark("By effect"),
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
TWO_FURTHER = mark(
    "Intervals take two further questions into account, one with the lowest and one with the "
    "highest value: a small sample may have none of the questions that differ."
)


def told(rule: ChosenRule) -> str:
    return " ".join(_told(rule))


def _told(rule: ChosenRule) -> Iterator[str]:
    yield gettext(
        "Rule: %(kind)s, chosen %(when)s, seed %(seed)s.",
        kind=gettext(KINDS[rule.kind]),
        when=notation.day(rule.chosen_at.date()),
        seed=rule.seed,
    )
    if n := len(rule.sample):
        yield gettext("It drew %(n)s of %(of)s questions at random.", n=n, of=rule.of)
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
    if rule is None:
        return None
    found = {name: getattr(rule, name) for name in STATED}
    found |= {name: found[name] and found[name].isoformat() for name in ("chosen_at", "ended_at")}
    drawn = {"n": len(rule.sample), "of": rule.of}
    return found | drawn | {"sample": list(rule.sample), "strata": list(rule.strata)}


def section(found: QuestionSample) -> Section:
    tables = (_table(found),) if found.figures else ()
    return Section(PART, gettext("Sampled questions"), tuple(_sentences(found)), tables)


def _sentences(found: QuestionSample) -> Iterator[str]:
    yield told(found.rule)
    rated = ngettext(
        "%(done)s of %(n)s question drawn is rated; the other questions are not asked.",
        "%(done)s of %(n)s questions drawn are rated; the other questions are not asked.",
        found.drawn,
        done=notation.number(found.rated),
    )
    if found.settings is None:
        yield rated
        yield gettext(
            "The figures have no interval: this sample grew and could end for what it showed, "
            "which an interval of a fixed size does not allow for."
        )
    elif found.rated < found.drawn:
        yield f"{rated} {gettext('The figures follow when all are: the size was fixed.')}"
    else:
        yield rated


def drawn(found: QuestionSample) -> str:
    listed = ", ".join(map(str, found.rule.sample))
    return gettext("Drawn, in this order: %(questions)s.", questions=listed)


def _table(found: QuestionSample) -> Table:
    note = gettext("n: questions with a value.")
    if found.settings is not None:
        note = gettext(
            "Bootstrap over the questions drawn, in each stratum, with the correction for a finite "
            "number of questions and quantiles of Student's t (%(resamples)s resamples, seed "
            "%(seed)s): valid for the size that was fixed. n: questions with a value.",
            resamples=notation.number(found.settings.resamples),
            seed=found.settings.seed,
        )
        note = f"{note} {gettext(TWO_FURTHER)}"
    parts = ("value", "lower", "upper")
    return Table(
        "sample",
        gettext("Over all %(n)s questions, from the sample", n=notation.number(found.rule.of)),
        (
            Column(gettext("Figure")),
            Column(gettext("Run, or pair of runs")),
            Column(gettext("95% interval"), numeric=True, parts=parts),
            Column("n", numeric=True),
        ),
        tuple(map(_row, found.figures)),
        (note,),
    )


def _row(one: SampledFigure) -> tuple[Cell, ...]:
    unit, found = words.unit_of(one.figure), one.found
    lower, upper, is_pair = found.interval.lower, found.interval.upper, len(one.runs) > 1
    shown = notation.difference if is_pair else notation.figure
    lines = (shown(found.value, unit), notation.interval(lower, upper, unit, signed=is_pair))
    return (
        word(words.figure_name(one.figure)),
        word(" – ".join(one.runs)),
        stacked(lines, (found.value, lower, upper)),
        Cell(notation.number(found.values), (found.values,)),
    )


def part_json(found: QuestionSample) -> dict[str, Any]:
    interval = None
    if found.settings is not None:
        method = f"bootstrap, Student's t, {FURTHER} further questions"
        interval = {"method": method, **asdict(found.settings)}
    return {
        "rule": rule_json(found.rule),
        "rated": found.rated,
        "interval": interval,
        "figures": [
            {
                "figure": one.figure,
                "runs": list(one.runs),
                "value": one.found.value,
                "reason": one.found.reason,
                "lower": one.found.interval.lower,
                "upper": one.found.interval.upper,
                "n": one.found.values,
                "drawn": one.found.drawn,
                "of": one.found.of,
            }
            for one in found.figures
        ],
    }
