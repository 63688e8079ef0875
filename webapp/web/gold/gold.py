"""Gold questions as pages: each set with its versions, each question with a form and a preview."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.i18n import gettext
from webapp.importers.gold.known_places import KnownPlace
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.gold.constraints import ConfusionMatrix, Expected, GoldQuestion
from webapp.services.gold import constraints, editing, gold
from webapp.services.gold.editing import GoldNumberTaken, UnknownGoldQuestion
from webapp.services.gold.gold import Gold, GoldSet
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import checked, chosen_file, sent
from webapp.web.gold import constraint_words, forms
from webapp.web.gold import map as gold_map
from webapp.web.gold.constraint_words import KINDS, ConstraintInWords
from webapp.web.gold.forms import GoldForm, ReadForm, ThresholdForm, VersionForm
from webapp.web.gold.preview import Preview, preview_of

blueprint = Blueprint("gold", __name__, url_prefix="/gold")

NEW = 0
"""The number in the address of a question that is yet to be made."""

NEWEST = 3
"""Runs of a set on which a threshold is tried out."""


class GoldSets(Struct, frozen=True):
    """The study's question sets with the state of their gold questions."""

    sets: tuple[GoldSet, ...]


class GoldLine(Struct, frozen=True):
    """One gold question in the list of its set."""

    number: int
    question: str
    category: str
    has_data: bool
    is_manual: bool
    rules: tuple[ConstraintInWords, ...]


class RunMet(Struct, frozen=True):
    """The result of a threshold T for a run.

    It holds the questions met, those met under the T in force, and the matrix.
    """

    id: str
    search_method: str | None
    llm: str | None
    n_met: int
    n_met_now: int
    n_questions: int
    matrix: ConfusionMatrix


class GoldPage(Struct, frozen=True):
    """The gold questions in force for a set; ``found`` is ``None`` where it has none.

    ``threshold`` is the one in the field, ``met`` its result for the newest runs, ``in_force``
    the saved one. ``wrong`` is true where the input is not a threshold.
    """

    set: GoldSet
    found: Gold | None
    threshold: str
    in_force: str
    met: tuple[RunMet, ...]
    wrong: bool
    lines: tuple[GoldLine, ...]
    places: tuple[KnownPlace, ...]
    new: int
    refusal: str = ""


class GoldQuestionPage(Struct, frozen=True):
    """One gold question being edited; ``number`` is ``NEW`` for one yet to be made."""

    set: GoldSet
    number: int
    form: GoldForm
    wrong: dict[str, str]
    kinds: Mapping[str, str]
    places: tuple[KnownPlace, ...]
    preview: Preview
    only_one: bool


@blueprint.get("/")
def index() -> str:
    """List the study's question sets."""
    with access.reading() as (session, rater):
        page = GoldSets(tuple(gold.sets(session, rater.study)))
    return render_template("gold/index.html", **htmx.names(page))


@blueprint.get("/<int:set_id>")
def show(set_id: int) -> Response:
    """Show the gold questions in force for a set, with all versions.

    With a threshold in the address: the result it would have for the newest runs; nothing is saved.
    """
    form = ThresholdForm(request.args)
    return htmx.respond("gold/page.html", "gold/_met.html", _gold_page(set_id, form))


@blueprint.get("/<int:set_id>/questions.json")
def download(set_id: int) -> Response:
    """Return a version as a gold file, the newest unless another is named."""
    with access.reading() as (session, rater):
        gold.find_set(session, rater.study, set_id)
        wanted = request.args.get("version", type=int)
        if wanted is None:
            wanted = len(gold.versions(session, set_id))
        found = gold.read(session, set_id, wanted)
    response = jsonify(found.document)
    response.headers.set("Content-Disposition", "attachment", filename="questions_v2.json")
    return response


@blueprint.post("/<int:set_id>/begin")
def begin(set_id: int) -> Response:
    """Begin with the set's own questions."""
    with access.writing() as (session, rater):
        editing.begin(session, rater, set_id, access.now())
        session.commit()
    return _back(set_id)


@blueprint.post("/<int:set_id>/import")
def take_in(set_id: int) -> Response:
    """Take a gold file in as the newest version."""
    return _take(set_id, gold.import_file)


@blueprint.post("/<int:set_id>/places")
def take_places(set_id: int) -> Response:
    """Take the known places of a locations.json in."""
    return _take(set_id, editing.take_places)


@blueprint.post("/<int:set_id>/threshold")
def set_threshold(set_id: int) -> Response:
    """Set the threshold T."""
    share = checked(ThresholdForm).threshold.data
    with access.writing() as (session, rater):
        editing.set_threshold(session, rater, set_id, share, access.now())
        session.commit()
    return _back(set_id)


@blueprint.post("/<int:set_id>/restore")
def restore(set_id: int) -> Response:
    """Put an older version in force again."""
    version = checked(VersionForm).version.data
    with access.writing() as (session, rater):
        gold.restore(session, rater, set_id, version, access.now())
        session.commit()
    return _back(set_id)


@blueprint.get("/<int:set_id>/questions/<int:question_id>")
def question(set_id: int, question_id: int) -> str:
    """Show one gold question as a form."""
    with access.reading() as (session, rater):
        found = _in_force(session, rater, set_id)
        asked = _question(found, question_id)
        run = request.args.get("run") or editing.newest_run(session, set_id) or ""
        form = forms.filled(asked, run)
        page = _page(session, rater, set_id, question_id, form, ReadForm(asked, {}))
    return render_template("gold/question.html", **htmx.names(page))


@blueprint.post("/<int:set_id>/questions/<int:question_id>")
def edit(set_id: int, question_id: int) -> Response:
    """Save the form as a new version; a map click, a place or a look only fills it."""
    form = sent(GoldForm)
    looks = _fill(set_id, form) or form.action.data != "save"
    with access.writing() as (session, rater):
        found = _in_force(session, rater, set_id)
        said = forms.read(form, _question(found, question_id))
        if not looks and not said.wrong:
            _save(session, rater, set_id, question_id, said)
        if looks or said.wrong:
            session.rollback()
            page = _page(session, rater, set_id, question_id, form, said)
            status = 200 if looks else 422
            return htmx.respond("gold/question.html", "gold/_preview.html", page, status)
        session.commit()
    return _back(set_id, _anchor=f"question-{said.question.query_id}")


@blueprint.post("/<int:set_id>/questions/<int:question_id>/remove")
def remove(set_id: int, question_id: int) -> Response:
    """Take a question out; the version before still has it."""
    with access.writing() as (session, rater):
        editing.remove(session, rater, set_id, question_id, access.now())
        session.commit()
    return _back(set_id)


def _fill(set_id: int, form: GoldForm) -> bool:
    """Fill the form from a click on the map or a known place; return whether one was made."""
    frame, x, y = gold_map.read_frame(form.frame.data), form.x.data, form.y.data
    if frame is not None and x is not None and y is not None:
        forms.set_point(form, *frame.point(x, y))
        return True
    if form.action.data == "place":
        with access.reading() as (session, rater):
            known = editing.places(_in_force(session, rater, set_id))
        chosen = next((place for place in known if place.name == form.place.data), None)
        if chosen is not None:
            forms.set_place(form, chosen)
        return True
    if form.action.data == "price":
        forms.spread(form)
        return True
    return False


def _save(session: Session, rater: Rater, set_id: int, question_id: int, said: ReadForm) -> None:
    """Save the question; a value that a gold file may not hold is added to the errors."""
    number = question_id or None
    try:
        editing.put(session, rater, set_id, number, said.question, access.now())
    except GoldNumberTaken as taken:
        said.wrong["number"] = f"{taken.sentence()}."
    except ImportRefused as refused:
        said.wrong["question"] = refused.advice()


def _take(set_id: int, taken: object) -> Response:
    name, data = chosen_file()
    with access.writing() as (session, rater):
        try:
            taken(session, rater, set_id, name, data, access.now())  # type: ignore[operator]
        except ImportRefused as refused:
            session.rollback()
            return make_response(_rendered(set_id, refusal=refused.advice()), 422)
        session.commit()
    return _back(set_id)


def _rendered(set_id: int, *, refusal: str = "") -> str:
    page = replace(_gold_page(set_id), refusal=refusal)
    return render_template("gold/page.html", **htmx.names(page))


def _gold_page(set_id: int, form: ThresholdForm | None = None) -> GoldPage:
    typed = form.threshold if form and form.threshold.typed else None
    with access.reading() as (session, rater):
        known = gold.find_set(session, rater.study, set_id)
        found = gold.in_force(session, set_id)
        stated = found.threshold if found else Fraction(0)
        wanted = stated if typed is None else typed.data
        met = () if found is None or wanted is None else _met(session, rater, known, wanted)
    questions = found.questions if found else ()
    return GoldPage(
        set=known,
        found=found,
        threshold=forms.decimal(stated) if typed is None else typed.typed,
        in_force=forms.decimal(stated),
        met=met,
        wrong=wanted is None,
        lines=tuple(map(_line, questions)),
        places=editing.places(found) if found else (),
        new=NEW,
    )


def _met(session: Session, rater: Rater, known: GoldSet, wanted: Fraction) -> tuple[RunMet, ...]:
    """Return the result of a threshold for each of the set's newest runs."""
    found = []
    for run_id, search_method, llm in known.runs[:NEWEST]:
        now = constraints.checked_run(session, rater.study, run_id).report
        then = constraints.checked_run(session, rater.study, run_id, threshold=wanted).report
        if now is None or then is None:
            continue
        totals = then.totals
        n_now, n = now.totals.n_successful, totals.n_queries
        found.append(
            RunMet(run_id, search_method, llm, totals.n_successful, n_now, n, totals.matrix)
        )
    return tuple(found)


def _line(question: GoldQuestion) -> GoldLine:
    return GoldLine(
        number=question.query_id,
        question=question.text,
        category=question.category,
        has_data=question.expected is Expected.HAS_DATA,
        is_manual=question.manual,
        rules=constraint_words.asked(question.constraints),
    )


def _in_force(session: Session, rater: Rater, set_id: int) -> Gold:
    gold.find_set(session, rater.study, set_id)
    found = gold.in_force(session, set_id)
    if found is None:
        raise UnknownGoldQuestion(set_id)
    return found


def _question(found: Gold, number: int) -> GoldQuestion:
    if number != NEW or any(one.query_id == NEW for one in found.questions):
        return editing.question_of(found, number)
    free = max((one.query_id for one in found.questions), default=0) + 1
    return GoldQuestion(free, "", "", Expected.HAS_DATA)


def _page(
    session: Session, rater: Rater, set_id: int, number: int, form: GoldForm, said: ReadForm
) -> GoldQuestionPage:
    found = _in_force(session, rater, set_id)
    known = gold.find_set(session, rater.study, set_id)
    places = editing.places(found)
    runs = {run[0] for run in known.runs}
    shown = editing.listings(session, rater.study, form.run.data) if form.run.data in runs else ()
    matches = editing.matches(said.question, shown)
    return GoldQuestionPage(
        set=known,
        number=number,
        form=form,
        wrong=said.wrong,
        kinds={name: gettext(word) for name, word in KINDS.items() if name not in {"sale", "rent"}},
        places=places,
        preview=preview_of(said.question, matches, places),
        only_one=len(found.questions) == 1,
    )


def _back(set_id: int, **where: str) -> Response:
    return redirect(url_for("gold.show", set_id=set_id, **where), 303)  # type: ignore[arg-type, return-value]
