"""The first page: what needs doing, or how to begin."""

from __future__ import annotations

from flask import Blueprint, current_app, render_template

from relevansi.services.agreement import adjudications
from relevansi.services.rating import shares
from relevansi.services.runs import reports, runs, samples
from relevansi.services.study import studies
from relevansi.services.study.standing import rater_standing, rater_standings
from relevansi.web.features import is_offered
from relevansi.web.frame import access

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def show() -> str:
    with access.reading() as (session, rater):
        if not rater.is_owner:
            found = rater_standing(session, rater)
            return render_template(
                "study/home/rater.html",
                blind=found.progress,
                judged=found.judged,
                seconds_left=found.seconds_left,
            )
        study, overviews = rater.study, runs.overviews(session, rater)
        people = rater_standings(session, study) if overviews else ()
        rule = reports.final_rule(session, study)
        state = reports.state(session, study, reports.in_study(study), rule)
        judged = sum(one.judged > 0 for one in people)
        behind = [
            one
            for one in people
            if (one.clicks_left if rule.rater else studies.shown_owner(one.name) in state.behind)
        ]
        disputes = adjudications.open_disputes(session, study) if judged > 1 else 0
        is_own = overviews and not current_app.config["IS_DEMO"]
        is_own = is_own and is_offered("runs.remove_sample")
        return render_template(
            "study/home/page.html",
            runs=overviews,
            blind=shares.if_blind(session, rater),
            people=people,
            behind=sorted(behind, key=lambda one: -one.clicks_left),
            judged=judged,
            state=state,
            rule=rule.name,
            states=reports.states(session, study, rule),
            is_behind=any(one.name == rater.name for one in behind),
            disputes=disputes - state.ties,
            sample=samples.sample_runs(session, study) if is_own else (),  # runs that are invented
        )
