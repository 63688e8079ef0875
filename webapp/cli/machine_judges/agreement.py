"""``relevansi judge agreement``: how far a machine judge agrees with people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from webapp.cli.frame import database
from webapp.cli.frame.options import as_json_option
from webapp.cli.frame.output import say, write_json
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.services.machine_judges.beside_people import BesidePeople


@click.command("agreement")
@click.argument("name")
@as_json_option
def agreement_command(name: str, *, as_json: bool) -> None:
    """Show how far the judge NAME agrees with people; its figures are put in use on its page."""
    from webapp.services.machine_judges import beside_people, judges

    with database.reading() as (session, study):
        judge = judges.named(session, study, name)
        found = beside_people.report(session, study, judge)
        used = judge.released_at is not None
    if as_json:
        print_json(_document(found, used=used))
        return
    for line in _agreement_lines(found):
        say(line)


def print_json(document: object) -> None:
    """Print one JSON document."""
    write_json(document, indent=2, default=_plain)


def _plain(value: object) -> str:
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat else str(value)


def _document(found: BesidePeople, *, used: bool) -> dict[str, Any]:
    """Return the agreement as plain values; without a value a figure is null, with its reason."""
    from webapp.metrics.agreement.registry import coefficients

    figures = coefficients(found.agreement)
    return {
        "n": found.n,
        "figures_in_use": used,
        "table": [
            {"machine": str(machine), "people": str(people), "cards": count}
            for (machine, people), count in sorted(found.table.items())
        ],
        "agreement": {
            name: {
                "value": one.value,
                "lower": one.lower,
                "upper": one.upper,
                "why_undefined": one.why_undefined,
            }
            for name, one in figures.items()
            if name != "fleiss_kappa"
        },
        "cards": [
            {
                "question": one.position,
                "title": one.card.title,
                "machine": str(one.machine),
                "people": str(one.people),
                "reason": one.reason,
            }
            for one in found.cards
        ],
    }


def _agreement_lines(found: BesidePeople) -> Iterator[str]:
    from webapp.metrics.agreement.registry import COEFFICIENTS, coefficients

    yield gettext("n = %(n)s cards that both decided", n=found.n)
    for name, one in coefficients(found.agreement).items():
        if name == "fleiss_kappa":
            continue
        label = gettext(COEFFICIENTS[name].label)
        if one.value is None:
            yield f"{label}: -"
        elif one.lower is None or one.upper is None:
            yield f"{label}: {one.value:.4f}"
        else:
            yield f"{label}: {one.value:.4f} ({one.lower:.4f} .. {one.upper:.4f})"
