"""The queue of disputed judged items: one at a time, its votes and the buttons that settle it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from relevansi.db.tables.study import Study
from relevansi.i18n import gettext
from relevansi.labels import OTHER
from relevansi.services.agreement import adjudications
from relevansi.services.agreement.adjudications import MAX_REASON, Dispute
from relevansi.services.judging import reasons
from relevansi.services.judging.reasons import ReasonMissing
from relevansi.web.frame import access, forms
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("adjudications", __name__, url_prefix="/adjudications")


class SettlementForm(Form):
    verdict = forms.LineField(forms.LONGEST_LABEL)
    reason = forms.TextField(forms.LONGEST_ANSWER)
    words = forms.TextField(forms.LONGEST_ANSWER)

    @property
    def whole_reason(self) -> str:
        """Return the key that was chosen; where none or "other", with the words."""
        reason: str = self.reason.data
        words: str = self.words.data.strip()
        if not reason.strip():
            return words
        return f"{OTHER}: {words}" if words and reason == OTHER else reason


class UndoForm(Form):
    verdict = forms.LineField(forms.LONGEST_LABEL)


class NamesForm(Form):
    names_shown = BooleanField(name="shown")
    item = forms.WholeField(1, 10**12)


@blueprint.get("/")
def show() -> str:
    """Show one dispute: `item`, or the first open one, behind `after` where that was settled."""
    args = request.args
    with access.reading() as (session, rater):
        page = _page(session, rater.study, args.get("item", type=int), args.get("after", type=int))
        page["verdict_before"] = args.get("was", "")
        return render_template("agreement/adjudications/page.html", **page)


@blueprint.post("/<int:item_id>")
def settle(item_id: int) -> Response:
    form = forms.validated_form(SettlementForm)
    verdict, reason = form.verdict.data, form.whole_reason
    try:
        with access.writing() as (session, rater):
            now = access.now()
            before = adjudications.adjudicate(session, rater, item_id, verdict, reason, now)
    except ReasonMissing:  # the form says so at its field
        with access.reading() as (session, rater):
            page = _page(session, rater.study, item_id) | {"mistake": gettext(forms.REQUIRED)}
            body = render_template("agreement/adjudications/page.html", **page)
        return make_response(body, 422)
    return see_other(url_for("adjudications.show", after=item_id, was=before))


@blueprint.post("/<int:item_id>/withdraw")
def withdraw(item_id: int) -> Response:
    """Take a settlement back, or put the verdict in force before it in its place again."""
    verdict = forms.validated_form(UndoForm).verdict.data
    with access.writing() as (session, rater):
        if verdict:
            adjudications.adjudicate(session, rater, item_id, verdict, None, access.now())
        else:
            adjudications.withdraw(session, rater, item_id, access.now())
    return see_other(url_for("adjudications.show", item=item_id))


@blueprint.post("/names")
def show_names() -> Response:
    form = forms.validated_form(NamesForm)
    with access.writing() as (session, rater):
        is_shown = bool(form.names_shown.data)
        adjudications.show_names(session, rater, is_shown=is_shown, now=access.now())
    return see_other(url_for("adjudications.show", item=form.item.data))


def _page(
    session: Session, study: Study, item_id: int | None = None, settled_id: int | None = None
) -> dict[str, Any]:
    docket = adjudications.docket(session, study)
    of_majority = {dispute.item_id for dispute in docket.majorities}
    with_majority = (item_id or settled_id) in of_majority or request.args.get("of") == "majority"
    queue = docket.majorities if with_majority else docket.ties
    item_ids = [dispute.item_id for dispute in queue]
    open_items = [dispute.item_id for dispute in queue if dispute.settlement is None]
    if item_id not in item_ids:
        begin = item_ids.index(settled_id) if settled_id in item_ids else 0
        behind = [key for key in item_ids[begin:] if key in open_items]
        item_id = next(iter(behind or open_items), None)
    place = item_ids.index(item_id) if item_id is not None else len(queue)
    dispute = queue[place] if place < len(queue) else None
    return {
        "docket": docket,
        "queue": queue,
        "with_majority": with_majority,
        "dispute": dispute,
        "place": place,
        "votes": adjudications.votes(session, study, dispute) if dispute else (),
        "conversation": adjudications.conversation(session, dispute) if dispute else (),
        "previous": queue[place - 1].item_id if place else None,
        "following": _following(queue, place),
        "settled_id": settled_id,
        "n_decided": len(queue) - len(open_items),
        "names_shown": adjudications.names_shown(session, study),
        "reason_required": study.reason_required,
        "reasons": reasons.offered(study.kind, study.reasons),
        "longest_reason": MAX_REASON,
        "verdict_before": "",
        "mistake": "",
    }


def _following(queue: tuple[Dispute, ...], place: int) -> int | None:
    """Return the judged item behind a place of the queue, from its end the first open one."""
    behind = [dispute.item_id for dispute in queue[place + 1 :]]
    before = [dispute.item_id for dispute in queue[:place] if dispute.settlement is None]
    return next(iter((*behind, *before)), None)
