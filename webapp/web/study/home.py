"""The first page: what needs doing, or how to begin."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, redirect, render_template, url_for

from webapp.config import resource
from webapp.services.rating import progress
from webapp.services.rating.progress import Progress
from webapp.services.runs import runs
from webapp.services.runs.runs import RunOverview
from webapp.web.frame import access, htmx

blueprint = Blueprint("home", __name__)


@dataclass(frozen=True, slots=True)
class Home:
    """The study's runs, in their order, with the rater's progress in them.

    ``blind`` is how far the rater is in the pooled cards, where the study is rated blind.
    """

    runs: tuple[RunOverview, ...]
    blind: Progress | None


@blueprint.get("/")
def show() -> str | Response:
    """Show the owner's open work; lead everybody else to their own pages."""
    with access.reading() as (session, rater):
        if not rater.is_owner:
            return redirect(url_for("rate.next_one"), 303)  # type: ignore[return-value]
        context = Home(tuple(runs.overviews(session, rater)), progress.if_blind(session, rater))
    return render_template("study/home/page.html", **htmx.names(context))


@blueprint.post("/sample")
def sample() -> Response:
    """Add the sample study's runs to this study."""
    from webapp.services.runs import samples  # reads run files, which the first page does not

    with access.writing() as (session, _):
        samples.load(session, resource("seeds"), access.now())
        session.commit()
    return redirect(url_for("home.show"), 303)  # type: ignore[return-value]
