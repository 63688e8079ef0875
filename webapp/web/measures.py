"""What each number means: every figure of the product on one page, from its registries."""

from __future__ import annotations

from dataclasses import dataclass

from flask import render_template

from webapp.exporters.measures import Chapter, chapters
from webapp.web import htmx


@dataclass(frozen=True, slots=True)
class MeasuresPage:
    """All measures, chapter by chapter."""

    chapters: tuple[Chapter, ...]


def show() -> str:
    """Explain every figure and column."""
    return render_template("measures/page.html", **htmx.names(MeasuresPage(chapters())))
