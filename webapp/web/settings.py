"""The study's settings: its name, its rater's name and its switches."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for

from webapp.services import raters, studies
from webapp.services.studies import Switches
from webapp.web import access, forms, htmx
from webapp.web.forms import SettingsForm

blueprint = Blueprint("settings", __name__)


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """How the study is set, what is wrong with what was typed, and whether it was stored."""

    switches: Switches
    rater_name: str
    errors: dict[str, str]
    saved: bool


@blueprint.get("/settings")
def show() -> str:
    """Show how the study is set."""
    with access.reading() as (_, rater):
        page = SettingsPage(
            studies.switches(rater.study), rater.name, {}, saved="saved" in request.args
        )
    return render_template("settings/page.html", **htmx.names(page))


@blueprint.post("/settings")
def save() -> Response:
    """Set the study as the form says, or show the form again with what is wrong."""
    form = SettingsForm(request.form)
    wanted = Switches(
        form.study_name.data or "", bool(form.allow_bulk.data), bool(form.show_pictures.data)
    )
    if not form.validate():
        page = SettingsPage(wanted, form.rater_name.data or "", forms.messages(form), saved=False)
        return make_response(render_template("settings/page.html", **htmx.names(page)), 422)
    with access.writing() as (session, rater):
        studies.set_switches(session, rater.study, wanted, access.now())
        raters.rename(session, rater, form.rater_name.data or "", access.now())
        session.commit()
    return redirect(url_for("settings.show", saved=1), 303)  # type: ignore[return-value]
