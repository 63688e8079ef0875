"""A sample of the questions, and the rule behind it, as sentences, a table and plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import Cell, Column, Section, Table, word
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.planning.sampling import (
    FURTHER,
    PART,
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


def two_further() -> str:
    """Return what intervals from a sample take into account beside its values."""
    return gettext(
        "Intervals take two further questions into account, one with the lowest and one with the "
        "highest value: a small sample may have none of the questions that differ."
    )


def told(rule: ChosenRule) -> str:
    """Return a rule in sentences: its kind, its sample, its seed, when it was chosen and ended."""
    chosen = gettext(
        "Rule: %(kind)s, chosen %(when)s, seed %(seed)s.",
        kind=gettext(KINDS[rule.kind]),
        when=notation.day(rule.chosen_at.date()),
        seed=rule.seed,
    )
    return " ".join([chosen, *_drawn(rule), _before(rule), *_ended(rule)])


def rule_json(rule: ChosenRule | None) -> dict[str, Any] | None:
    """Return a rule as plain values; ``None`` where there is none."""
    if rule is None:
        return None
    return {
        "kind": rule.kind,
        "seed": rule.seed,
        "chosen_at": rule.chosen_at.isoformat(),
        "verdicts_before": rule.verdicts_before,
        "ended_at": rule.ended_at.isoformat() if rule.ended_at else None,
        "verdicts_at_end": rule.verdicts_at_end,
        "outcome": rule.outcome,
        "settings": dict(rule.settings),
        "n": len(rule.sample),
        "of": rule.of,
        "sample": list(rule.sample),
        "strata": list(rule.strata),
    }


def _drawn(rule: ChosenRule) -> tuple[str, ...]:
    if not rule.sample:
        return ()
    n = len(rule.sample)
    return (gettext("It drew %(n)s of %(of)s questions at random.", n=n, of=rule.of),)


def _ended(rule: ChosenRule) -> tuple[str, ...]:
    if rule.ended_at is None:
        return ()
    when = notation.day(rule.ended_at.date())
    if rule.outcome == "reached":
        said = gettext("It reached its aim on %(when)s.", when=when)
    elif rule.outcome == "replaced":
        said = gettext("Another rule took its place on %(when)s.", when=when)
    elif rule.outcome == "retired":
        said = gettext("It ended on %(when)s, as rules of its kind were given up.", when=when)
    else:
        said = gettext("It was stopped on %(when)s.", when=when)
    return (said,)


def _before(rule: ChosenRule) -> str:
    if rule.beforehand:
        return gettext("It was chosen before the first verdict.")
    return ngettext(
        "It was chosen after %(n)s verdict of people.",
        "It was chosen after %(n)s verdicts of people.",
        rule.verdicts_before,
    )


def sentences(found: QuestionSample) -> tuple[str, ...]:
    """Return the rule, how far the sample is rated, and why one that grew has no interval."""
    return tuple(filter(None, (told(found.rule), _rated(found), _grew(found))))


def section(found: QuestionSample) -> Section:
    """Return the section of a report."""
    tables = (table(found),) if found.figures else ()
    return Section(PART, gettext("Sampled questions"), sentences(found), tables)


def _rated(found: QuestionSample) -> str:
    said = ngettext(
        "%(done)s of %(n)s question drawn is rated; the other questions are not asked.",
        "%(done)s of %(n)s questions drawn are rated; the other questions are not asked.",
        found.drawn,
        done=notation.number(found.rated),
    )
    if found.settings is None or found.rated == found.drawn:
        return said
    return " ".join([said, gettext("The figures follow when all are: the size was fixed.")])


def _grew(found: QuestionSample) -> str:
    if found.settings is not None:
        return ""
    return gettext(
        "The figures have no interval: this sample grew and could end for what it showed, which an "
        "interval of a fixed size does not allow for."
    )


def drawn(found: QuestionSample) -> str:
    """Return the questions of a sample by their positions."""
    listed = ", ".join(map(str, found.rule.sample))
    return gettext("Drawn, in this order: %(questions)s.", questions=listed)


def table(found: QuestionSample) -> Table:
    """Return each figure over all questions, of each run and each pair, with its interval."""
    return Table(
        "sample",
        gettext("Over all %(n)s questions, from the sample", n=notation.number(found.rule.of)),
        (
            Column(gettext("Figure")),
            Column(gettext("Run, or pair of runs")),
            Column(
                gettext("95% interval"),
                numeric=True,
                parts=("value", "lower", "upper"),
            ),
            Column("n", numeric=True),
        ),
        tuple(_row(one) for one in found.figures),
        tuple(_method(found)),
    )


def _method(found: QuestionSample) -> Iterator[str]:
    settings = found.settings
    if settings is None:
        yield gettext("n: questions with a value.")
        return
    said = gettext(
        "Bootstrap over the questions drawn, in each stratum, with the correction for a finite "
        "number of questions and quantiles of Student's t (%(resamples)s resamples, seed "
        "%(seed)s): valid for the size that was fixed. n: questions with a value.",
        resamples=notation.number(settings.resamples),
        seed=settings.seed,
    )
    yield f"{said} {two_further()}"


def _row(one: SampledFigure) -> tuple[Cell, ...]:
    unit, found = words.unit_of(one.figure), one.found
    is_pair = len(one.runs) > 1
    shown = notation.difference if is_pair else notation.figure
    interval = notation.interval(found.interval.lower, found.interval.upper, unit, signed=is_pair)
    lines = (shown(found.value, unit), interval)
    values = (found.value, found.interval.lower, found.interval.upper)
    return (
        word(words.figure_name(one.figure)),
        word(" – ".join(one.runs)),
        Cell(" ".join(lines), values, lines),
        Cell(notation.number(found.values), (found.values,)),
    )


def part_json(found: QuestionSample) -> dict[str, Any]:
    """Return a sample as plain values: its rule, how far it is rated, and its figures."""
    return {
        "rule": rule_json(found.rule),
        "rated": found.rated,
        "interval": _interval_json(found),
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


def _interval_json(found: QuestionSample) -> dict[str, Any] | None:
    if found.settings is None:
        return None
    return {
        "method": f"bootstrap, Student's t, {FURTHER} further questions",
        **asdict(found.settings),
    }
