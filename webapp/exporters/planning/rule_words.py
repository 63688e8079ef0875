"""The rule behind a figure of planning, as pages and reports name it."""

from __future__ import annotations

from typing import Any

from webapp import notation
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.planning.chosen_rules import ChosenRule

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
