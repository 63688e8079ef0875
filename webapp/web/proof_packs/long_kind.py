"""The words of a proof pack that takes long to make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext
from webapp.services.proof_packs import long_kind
from webapp.web.workers.long_work import LongKindOnPages, LongWorkWords


def words(wanted: Mapping[str, Any]) -> LongWorkWords:
    """Return the words of the pack's page, and where the same pack is asked for again."""
    run, rule = wanted["run"], wanted["rule"]
    if run is None:
        title = gettext("Proof pack of the study")
        again = url_for("proof_packs.of_study", rule=rule)
    else:
        title = gettext("Proof pack of the run %(run)s", run=run)
        again = url_for("proof_packs.of_run", run_id=run, rule=rule)
    return LongWorkWords(
        title,
        again,
        gettext("It is being made: %(done)s of %(of)s steps done."),
        gettext("All steps are done. The file is being put down."),
        gettext(
            "You may close this page: the file is made all the same, and the link that brought "
            "you here brings you back to it. It is kept for a day."
        ),
    )


KINDS = {long_kind.PACK: LongKindOnPages(words)}
