"""The words of a comparison that takes long, and the page it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext, mark, ngettext
from webapp.services.comparisons import long_kind
from webapp.services.workers.long_work import LongProgress
from webapp.web.workers.long_work import LongKindOnPages, LongWorkWords


def _kind(
    title: Callable[[Mapping[str, Any]], str], address: Callable[..., str], leaving: str
) -> LongKindOnPages:
    """Return a kind of comparison by the `address` that shows it, with what `leaving` does."""

    def words(wanted: Mapping[str, Any]) -> LongWorkWords:
        return LongWorkWords(
            title(wanted),
            address(wanted),
            gettext("The comparison is being made: %(done)s of %(of)s steps done."),
            gettext("All steps are done. The comparison is being put down."),
            gettext(leaving),
        )

    def seen_at(work: LongProgress) -> str:
        return address(work.wanted, kept=work.id)

    return LongKindOnPages(words, seen_at, "comparisons.show", "runs.index")


def _of_runs(wanted: Mapping[str, Any]) -> str:
    runs = len(wanted["runs"])
    return ngettext("Comparison of %(n)s run", "Comparison of %(n)s runs", runs)


def _of_files(wanted: Mapping[str, Any]) -> str:
    files = len(wanted["tokens"])
    return ngettext("Comparison of %(n)s file", "Comparison of %(n)s files", files)


def _address(wanted: Mapping[str, Any], kept: str | None = None) -> str:
    return url_for("comparisons.show", runs=wanted["runs"], rule=wanted["rule"], kept=kept)


def _address_of_files(wanted: Mapping[str, Any], kept: str | None = None) -> str:
    names = [label or "" for label in wanted["labels"]]
    tokens, phase = wanted["tokens"], wanted["phase"]
    return url_for("rated_comparisons.show", file=tokens, name=names, phase=phase, kept=kept)


KINDS = {
    long_kind.COMPARISON: _kind(
        _of_runs,
        _address,
        mark(
            "You may close this page: the comparison is made all the same, and the page "
            "Comparison shows it as long as nothing has changed."
        ),
    ),
    long_kind.FILES: _kind(
        _of_files,
        _address_of_files,
        mark(
            "You may close this page: the comparison is made all the same, and the address of "
            "this page leads to it for a day."
        ),
    ),
}
