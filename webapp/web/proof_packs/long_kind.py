"""The name of a proof pack that takes long to make, and the address at which it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import url_for

from webapp.i18n import gettext
from webapp.services.proof_packs import long_kind

KIND = long_kind.KIND


def title(wanted: Mapping[str, Any]) -> str:
    """Return what the file is."""
    if wanted["run"] is None:
        return gettext("Proof pack of the study")
    return gettext("Proof pack of the run %(run)s", run=wanted["run"])


def address(wanted: Mapping[str, Any]) -> str:
    """Return where the same pack is asked for again."""
    if wanted["run"] is None:
        return url_for("proof_packs.of_study", rule=wanted["rule"])
    return url_for("proof_packs.of_run", run_id=wanted["run"], rule=wanted["rule"])
