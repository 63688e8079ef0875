"""The meaning of every figure of the product on one page, from its registries."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, render_template

from webapp.exporters.exports.measures import Chapter, chapters
from webapp.web.frame import htmx

blueprint = Blueprint("measures", __name__, url_prefix="/measures")


@dataclass(frozen=True, slots=True)
class MeasuresPage:
    """All measures, chapter by chapter."""

    chapters: tuple[Chapter, ...]


@blueprint.get("/")
def show() -> str:
    """Explain every figure and column."""
    return render_template("runs/measures/page.html", **htmx.names(MeasuresPage(chapters())))
