"""The meaning of every figure of the product on one page, from its registries."""

from __future__ import annotations

from flask import Blueprint, render_template
from msgspec import Struct

from webapp.exporters.exports.metrics_tables import Chapter, chapters, rounding
from webapp.web.frame import htmx

blueprint = Blueprint("measures", __name__, url_prefix="/measures")


class MeasuresPage(Struct, frozen=True):
    """All measures, chapter by chapter, and how figures are rounded."""

    chapters: tuple[Chapter, ...]
    rounding: str


@blueprint.get("/")
def show() -> str:
    """Explain every figure and column."""
    return render_template(
        "runs/measures/page.html", **htmx.names(MeasuresPage(chapters(), rounding()))
    )
