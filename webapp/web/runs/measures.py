"""The meaning of every figure of the product on one page, from its registries."""

from __future__ import annotations

from flask import Blueprint, render_template

from webapp.exporters.exports.metrics_tables import chapters, rounding

blueprint = Blueprint("measures", __name__, url_prefix="/measures")


@blueprint.get("/")
def show() -> str:
    """Explain every figure and column."""
    return render_template("runs/measures/page.html", chapters=chapters(), rounding=rounding())
