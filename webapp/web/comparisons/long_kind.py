"""The words of a comparison that takes long, and the page it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext
from webapp.services.comparisons import long_kind
from webapp.services.workers.long_work import LongProgress
from webapp.web.workers.long_work import LongKindOnPages, LongWorkWords


def words(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the page, and where the same comparison is asked for again."""
    return LongWorkWords(
        gettext("Comparison"),
        url_for("comparisons.show", runs=wanted["runs"], rule=wanted["rule"]),
        gettext("The comparison is being made: %(done)s of %(of)s steps done."),
        gettext("All steps are done. The comparison is being put down."),
        gettext(
            "You may close this page: the comparison is made all the same, and the page "
            "Comparison shows it as long as nothing has changed."
        ),
    )


def seen_at(work: LongProgress) -> str:
    """Return the address of the comparison as it was made."""
    wanted = work.wanted
    return url_for("comparisons.show", runs=wanted["runs"], rule=wanted["rule"], kept=work.id)


KINDS = {long_kind.COMPARISON: LongKindOnPages(words, seen_at)}
