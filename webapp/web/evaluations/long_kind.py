"""The words of a file that takes long to score, and the page of its evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext
from webapp.services.evaluations import long_kind
from webapp.services.workers.long_work import LongProgress
from webapp.web.workers.long_work import LongKindOnPages, LongWorkWords


def words(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the scoring of files."""
    return LongWorkWords(
        gettext("Scoring of %(names)s", names=", ".join(wanted["names"])),
        url_for("evaluations.index"),
        gettext("%(done)s of %(of)s rows are scored."),
        gettext("All rows are scored. They are being stored, all at once."),
        gettext(
            "You may close this page: the scoring goes on, and the page Evaluation lists the "
            "evaluation once it is stored."
        ),
    )


def seen_at(work: LongProgress) -> str:
    """Return the address of the evaluation, or of the form that says why there is none."""
    found = work.result or {}
    if "evaluation" not in found:
        return url_for("evaluations.index", refused=work.id)
    again = 1 if found["again"] else None
    return url_for("evaluations.show", evaluation_id=found["evaluation"], again=again)


KINDS = {long_kind.SCORING: LongKindOnPages(words, seen_at, "evaluations.index")}
