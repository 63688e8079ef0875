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
    return _words(
        _address(wanted),
        gettext(
            "You may close this page: the comparison is made all the same, and the page "
            "Comparison shows it as long as nothing has changed."
        ),
    )


def words_of_files(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the page for files, which are found by its address alone."""
    return _words(
        _address_of_files(wanted),
        gettext(
            "You may close this page: the comparison is made all the same, and the address of "
            "this page leads to it for a day."
        ),
    )


def _words(again: str, leaving: str) -> LongWorkWords:
    return LongWorkWords(
        gettext("Comparison"),
        again,
        gettext("The comparison is being made: %(done)s of %(of)s steps done."),
        gettext("All steps are done. The comparison is being put down."),
        leaving,
    )


def seen_at(work: LongProgress) -> str:
    """Return the address of the comparison as it was made."""
    return _address(work.wanted, kept=work.id)


def seen_at_of_files(work: LongProgress) -> str:
    """Return the address of the comparison of files as it was made."""
    return _address_of_files(work.wanted, kept=work.id)


def _address(wanted: Mapping[str, Any], kept: str | None = None) -> str:
    return url_for("comparisons.show", runs=wanted["runs"], rule=wanted["rule"], kept=kept)


def _address_of_files(wanted: Mapping[str, Any], kept: str | None = None) -> str:
    names = [label or "" for label in wanted["labels"]]
    tokens, phase = wanted["tokens"], wanted["phase"]
    return url_for("rated_comparisons.show", file=tokens, name=names, phase=phase, kept=kept)


KINDS = {
    long_kind.COMPARISON: LongKindOnPages(words, seen_at, "comparisons.show"),
    long_kind.FILES: LongKindOnPages(words_of_files, seen_at_of_files, "comparisons.show"),
}
