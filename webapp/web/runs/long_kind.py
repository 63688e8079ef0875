"""The words of a large import, and the page it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext
from webapp.services.runs import long_kind
from webapp.services.workers.long_work import LongProgress
from webapp.web.runs import imports
from webapp.web.workers.long_work import LongKindOnPages, LongWorkWords


def reading(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the reading of files."""
    return _words(
        wanted,
        gettext("All questions are read. The report is being made."),
        gettext(
            "You may close this page: the reading goes on, and the page Import leads back to "
            "the report. Nothing is stored before you have seen it."
        ),
    )


def storing(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the storing of files."""
    return _words(
        wanted,
        gettext("All questions are read. They are being stored, all at once."),
        gettext(
            "You may close this page: the import goes on, and the page Import leads back to it. "
            "The files are stored as a whole or not at all."
        ),
    )


def _words(wanted: Mapping[str, Any], ending: str, leaving: str) -> LongWorkWords:
    return LongWorkWords(
        gettext("Import of %(names)s", names=", ".join(wanted["names"])),
        url_for("imports.show", token=wanted["tokens"]),
        gettext("%(done)s of %(of)s questions are read."),
        ending,
        leaving,
    )


def seen_at(work: LongProgress) -> str:
    """Return where the result is seen: the report of files that wait, else the stored runs."""
    found = work.result or {}
    if found["left"]:
        return url_for("imports.show", token=found["left"], left="1" if found["stored"] else None)
    return imports.after(found["runs"])


KINDS = {
    long_kind.READING: LongKindOnPages(reading, seen_at, "imports.show"),
    long_kind.STORING: LongKindOnPages(storing, seen_at, "imports.show"),
}
