"""The options that the commands of ``relevansi score`` share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from webapp.i18n import gettext
from webapp.importers.runs.written_numbers import exact_number

ALL_FORMATS = ("table", "markdown", "latex", "json", "csv")


class ShareOption(click.ParamType[Fraction]):
    """A number between two ends, kept exactly as the decimal that the user wrote."""

    name = "NUMBER"

    def __init__(self, highest: int) -> None:
        self.highest = highest

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Fraction:
        """Return the exact fraction; fails unless it is a number from 0 to the highest."""
        if isinstance(value, Fraction):
            return value
        number = exact_number(value)
        if number is None or not 0 <= number <= self.highest:
            says = gettext("%(value)s is not a number from 0 to %(highest)s.")
            self.fail(says % {"value": value, "highest": self.highest}, param, ctx)
        return number


first_rows = click.option(
    "--n", "first", type=click.IntRange(min=1), help="Score the first N rows only."
)
