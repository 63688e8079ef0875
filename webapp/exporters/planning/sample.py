"""A sample of the questions in words and as a table, for pages, reports and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import Cell, Column, Table, word
from webapp.exporters.planning import rule_words
from webapp.i18n import gettext, ngettext
from webapp.metrics.planning.samples import QuestionSample, SampledFigure, SequenceLook
from webapp.metrics.planning.value_range import FURTHER


def sentences(found: QuestionSample) -> tuple[str, ...]:
    """Return the rule, how far the sample is rated, and when it stopped."""
    return tuple(filter(None, (rule_words.told(found.rule), _rated(found), _stopping(found))))


def _rated(found: QuestionSample) -> str:
    said = ngettext(
        "%(done)s of %(n)s question drawn is rated; the other questions are not asked.",
        "%(done)s of %(n)s questions drawn are rated; the other questions are not asked.",
        found.drawn,
        done=notation.number(found.rated),
    )
    if found.rule.kind == "sequence" or found.rated == found.drawn:
        return said
    return " ".join([said, gettext("The figures follow when all are: the size was fixed.")])


def _stopping(found: QuestionSample) -> str:
    if found.rule.kind != "sequence":
        return ""
    width = found.rule.settings.get("width")
    stated = {
        "figure": words.figure_name(str(found.rule.settings.get("figure"))),
        "runs": " – ".join(found.compared),
    }
    if width is None:
        aim = gettext(
            "It ends once the 95%% interval of the difference in %(figure)s (%(runs)s) no longer "
            "includes 0.",
            **stated,
        )
    else:
        aim = gettext(
            "It ends once the 95%% interval of the difference in %(figure)s (%(runs)s) no longer "
            "includes 0, or is at most %(width)s wide.",
            **stated,
            width=notation.figure(width),
        )
    return " ".join([aim, *_looked(found)])


def _looked(found: QuestionSample) -> Iterator[str]:
    if not found.looks:
        return
    latest: SequenceLook = found.looks[-1]
    unit = words.unit_of(str(found.rule.settings.get("figure")))
    between = notation.interval(latest.interval.lower, latest.interval.upper, unit, signed=True)
    n = notation.number(latest.n)
    if latest.outcome == "differs":
        yield gettext(
            "It ended after %(n)s questions: the interval is %(interval)s, so the two runs differ.",
            n=n,
            interval=between,
        )
    elif latest.outcome == "narrow":
        yield gettext(
            "It ended after %(n)s questions: the interval is %(interval)s, which is narrow enough.",
            n=n,
            interval=between,
        )
    elif found.rated < found.drawn:
        yield gettext(
            "After %(n)s questions the interval is %(interval)s: go on rating.",
            n=n,
            interval=between,
        )
    else:
        yield gettext(
            "After %(n)s questions the interval is %(interval)s: draw more questions.",
            n=n,
            interval=between,
        )


def drawn(found: QuestionSample) -> str:
    """Return the questions of a sample by their positions."""
    listed = ", ".join(map(str, found.rule.sample))
    return gettext("Drawn, in this order: %(questions)s.", questions=listed)


def table(found: QuestionSample) -> Table:
    """Return each figure over all questions, of each run and each pair, with its interval."""
    grows = found.rule.kind == "sequence"
    return Table(
        "sample",
        gettext("Over all %(n)s questions, from the sample", n=notation.number(found.rule.of)),
        (
            Column(gettext("Figure")),
            Column(gettext("Run, or pair of runs")),
            Column(
                gettext("95% confidence sequence") if grows else gettext("95% interval"),
                numeric=True,
                parts=("value", "lower", "upper"),
            ),
            Column("n", numeric=True),
        ),
        tuple(_row(one) for one in found.figures),
        (_method(found),),
    )


def _method(found: QuestionSample) -> str:
    settings = found.settings
    if settings is None:
        return gettext(
            "Confidence sequence by hedged capital betting without replacement (Waudby-Smith & "
            "Ramdas 2020): each interval holds however often one looks. n: questions with a value."
        )
    said = gettext(
        "Bootstrap over the questions drawn, in each stratum, with the correction for a finite "
        "number of questions and quantiles of Student's t (%(resamples)s resamples, seed "
        "%(seed)s): valid for the size that was fixed. n: questions with a value.",
        resamples=notation.number(settings.resamples),
        seed=settings.seed,
    )
    return f"{said} {rule_words.two_further()}"


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


def sample_json(found: QuestionSample) -> dict[str, Any]:
    """Return a sample as plain values: its rule, how far it is rated, figures and looks."""
    return {
        "rule": rule_words.rule_json(found.rule),
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
        "looks": [
            {
                "n": look.n,
                "lower": look.interval.lower,
                "upper": look.interval.upper,
                "outcome": look.outcome,
            }
            for look in found.looks
        ],
    }


def _interval_json(found: QuestionSample) -> dict[str, Any]:
    if found.settings is None:
        return {"method": "hedged capital betting", "confidence": 0.95}
    return {
        "method": f"bootstrap, Student's t, {FURTHER} further questions",
        **asdict(found.settings),
    }
