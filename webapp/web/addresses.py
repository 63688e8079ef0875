"""Every address of the app, and the view behind it: one table.

A page's views stand in the module of its name, which is read when somebody first asks for one
of them: a server that starts does not wait for pages that nobody has asked for
(see docs/decisions/0019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from flask import Blueprint
from flask.typing import ResponseReturnValue

View = Callable[..., ResponseReturnValue]


@dataclass(frozen=True, slots=True)
class Address:
    """A path below the page's own, the methods it takes and the name of the view."""

    path: str
    methods: tuple[str, ...]
    view: str


@dataclass(frozen=True, slots=True)
class Page:
    """What is called ``name.view``; ``before`` names what is asked before any view."""

    prefix: str
    addresses: tuple[Address, ...]
    before: str | None = None


def page(prefix: str, *addresses: Address, before: str | None = None) -> Page:
    """Return a page whose addresses all begin with `prefix`."""
    return Page(prefix, addresses, before)


def get(path: str, view: str) -> Address:
    """Return an address that shows something."""
    return Address(path, ("GET",), view)


def post(path: str, view: str) -> Address:
    """Return an address that changes something."""
    return Address(path, ("POST",), view)


def get_or_post(path: str, view: str) -> Address:
    """Return an address that takes both, by a link and by a form."""
    return Address(path, ("GET", "POST"), view)


OF_RUN = (
    "any('export.csv', 'raters.csv', 'export.xlsx', 'report.md', 'judgments.csv', 'qrels.txt', "
    "'run.txt', 'export.json')"
)
OF_CONSTRAINTS = (
    "any('constraints.json', 'constraints.csv', 'constraint_cards.csv', 'manual_input.json')"
)
REPORT = "any(markdown, latex, html, json, xlsx)"
CHART = "any(intervals, categories, questions, progress)"

PAGES = {
    "health": page(
        "",
        get("/healthz", "healthz"),
    ),
    "shell": page(
        "",
        get("/service-worker.js", "worker"),
        get("/offline/<language>", "offline"),
    ),
    "language": page(
        "",
        get_or_post("/language", "switch"),
    ),
    "ratios": page(
        "",
        post("/ratios", "switch"),
    ),
    "home": page(
        "",
        get("/", "show"),
        post("/sample", "sample"),
    ),
    "imports": page(
        "",
        get("/runs/import", "show"),
        post("/runs/import", "upload"),
    ),
    "runs": page(
        "/runs",
        get("/", "index"),
        get("/<run_id>", "show"),
        post("/<run_id>/labels", "relabel"),
        post("/<run_id>/move", "move"),
        get("/<run_id>/delete", "ask_to_delete"),
        post("/<run_id>/delete", "delete"),
        get("/<run_id>/metrics.json", "metrics"),
        get(f"/<run_id>/<{OF_RUN}:name>", "export"),
    ),
    "offline": page(
        "/runs/<run_id>",
        get("/offline.html", "download"),
    ),
    "proof_packs": page(
        "",
        get("/runs/<run_id>/proof-pack.zip", "of_run"),
        get("/study/proof-pack.zip", "of_study"),
    ),
    "judgments": page(
        "/runs/<run_id>",
        get("/queries/<int:query_id>", "show"),
        get("/queries/<int:query_id>/standing", "standing"),
        post("/queries/<int:query_id>/results/<int:rank>/judgment", "judge"),
        post("/queries/<int:query_id>/rating", "rate"),
        post("/queries/<int:query_id>/judgments", "judge_open"),
        post("/undo", "undo"),
        post("/queries/<int:query_id>/cards", "add_cards"),
    ),
    "rate": page(
        "/rate",
        get("/", "next_one"),
        get("/<task_id>", "show"),
        get("/<task_id>/standing", "standing"),
        post("/<task_id>/judgment", "judge"),
        post("/<task_id>/rating", "rate"),
        post("/<task_id>/later", "later"),
        post("/ahead", "ahead"),
        post("/undo", "undo"),
    ),
    "study": page(
        "/study",
        get("/", "show"),
        post("/", "save"),
        post("/guidelines", "preview"),
        get("/guidelines", "guidelines"),
        get("/standing", "standing"),
    ),
    "assignments": page(
        "/study/assignments",
        get("/", "show"),
        post("/", "save"),
    ),
    "question_notes": page(
        "/study/notes",
        get("/", "show"),
        post("/", "save"),
    ),
    "agreement": page(
        "",
        get("/agreement", "show"),
        get("/agreement.json", "document"),
    ),
    "adjudications": page(
        "/adjudications",
        get("/", "show"),
        post("/<int:thing_id>", "settle"),
        post("/<int:thing_id>/withdraw", "withdraw"),
        post("/names", "show_names"),
    ),
    "history": page(
        "/history",
        get("/", "show"),
        post("/undo", "undo"),
        get("/events.csv", "as_csv"),
        get("/events.jsonl", "as_json_lines"),
    ),
    "conflicts": page(
        "/conflicts",
        get("/", "show"),
        post("/", "compare"),
    ),
    "constraint_agreement": page(
        "/constraints/<run_id>/people",
        get("/", "show"),
    ),
    "constraints": page(
        "/constraints",
        get("/<run_id>", "show"),
        post("/<run_id>/gold", "attach"),
        post("/<run_id>/manual-input", "take_in"),
        get(f"/<run_id>/<{OF_CONSTRAINTS}:name>", "download"),
        get("/<run_id>/<int:query_id>", "question"),
        post("/<run_id>/<int:query_id>/<int:card>", "decide"),
        post("/<run_id>/decisions/<int:step_id>/undo", "undo"),
    ),
    "card_decisions": page(
        "",
        post("/runs/<run_id>/queries/<int:query_id>/results/<int:rank>/decision", "decide"),
        post("/rate/<task_id>/decision", "decide_blind"),
    ),
    "gold": page(
        "/gold",
        get("/", "index"),
        get("/<int:set_id>", "show"),
        get("/<int:set_id>/questions.json", "download"),
        post("/<int:set_id>/begin", "begin"),
        post("/<int:set_id>/import", "take_in"),
        post("/<int:set_id>/places", "take_places"),
        post("/<int:set_id>/threshold", "set_threshold"),
        post("/<int:set_id>/restore", "restore"),
        get("/<int:set_id>/questions/<int:question_id>", "question"),
        post("/<int:set_id>/questions/<int:question_id>", "edit"),
        post("/<int:set_id>/questions/<int:question_id>/remove", "remove"),
    ),
    "comparisons": page(
        "/comparisons",
        get("/", "show"),
        get("/questions/<int:position>", "question"),
        get(f"/report.<{REPORT}:file_format>", "take_away"),
        get(f"/<{CHART}:kind>.<any(svg, png, pdf):end>", "picture"),
    ),
    "rated_comparisons": page(
        "/comparisons/files",
        get("/", "show"),
        post("/", "upload"),
        post("/forget", "forget"),
        get(f"/report.<{REPORT}:file_format>", "take_away"),
        get(f"/<{CHART}:kind>.<any(svg, png, pdf):end>", "picture"),
    ),
    "evaluations": page(
        "/evaluations",
        get("/", "index"),
        post("/", "upload"),
        get("/<evaluation_id>", "show"),
        post("/<evaluation_id>/raters", "open_to_raters"),
        get("/<evaluation_id>/items", "items"),
        get("/<evaluation_id>/items/<int:position>", "item"),
        post("/<evaluation_id>/items/<int:position>/judgment", "judge"),
        post("/<evaluation_id>/items/<int:position>/undo", "undo"),
        get("/<evaluation_id>/scores.json", "as_json"),
        get("/<evaluation_id>/scores.csv", "as_csv"),
        get("/<evaluation_id>/report.md", "as_markdown"),
        get("/<evaluation_id>/report.tex", "as_latex"),
        get("/<evaluation_id>/delete", "ask_to_delete"),
        post("/<evaluation_id>/delete", "delete"),
    ),
    "machine_agreement": page(
        "/evaluations",
        get("/<evaluation_id>/people", "show"),
        get("/<evaluation_id>/people.json", "as_json"),
    ),
    "machine_judges": page(
        "/study/machine-judges",
        get("/", "index"),
        get("/new", "new"),
        post("/", "make"),
        get("/<int:judge_id>", "show"),
        post("/<int:judge_id>/start", "start"),
        post("/<int:judge_id>/stop", "stop"),
        post("/<int:judge_id>/resume", "resume"),
        get("/<int:judge_id>/resume", "after_refusal"),
        get("/<int:judge_id>/stop", "after_refusal"),
        get("/<int:judge_id>/start", "after_refusal"),
    ),
    "machine_beside_people": page(
        "/study/machine-judges/<int:judge_id>",
        get("/agreement", "show"),
        post("/release", "release"),
        post("/withdraw", "withdraw"),
        get("/withdraw", "after_refusal"),
        get("/release", "after_refusal"),
    ),
    "item_rating": page(
        "/items",
        get("/", "index"),
        get("/<evaluation_id>/", "next_one"),
        get("/<evaluation_id>/<int:position>", "show"),
        post("/<evaluation_id>/<int:position>/judgment", "judge"),
        post("/<evaluation_id>/undo", "undo"),
    ),
    "raters": page(
        "/raters",
        get("/", "index"),
        post("/", "add"),
        post("/<int:rater_id>/invitations", "invite"),
        post("/invitations/<int:invitation_id>/withdraw", "withdraw"),
        post("/<int:rater_id>/name", "rename"),
        get("/<int:rater_id>/remove", "ask_to_remove"),
        post("/<int:rater_id>/remove", "remove"),
        post("/<int:rater_id>/restore", "restore"),
    ),
    "sign_in": page(
        "",
        get("/sign-in", "show"),
        post("/sign-in", "enter"),
        post("/sign-in/first", "set_first"),
        post("/sign-in/as", "choose"),
        post("/sign-out", "leave"),
        get("/join/<token>", "greet"),
        post("/join/<token>", "join"),
        get("/password", "ask_to_change"),
        post("/password", "change"),
        before="stay_shut",
    ),
    "measures": page(
        "/measures",
        get("/", "show"),
    ),
    "user_studies": page(
        "/study/users",
        get("/", "show"),
        post("/", "save"),
        post("/consent", "write_consent"),
        post("/links", "make_link"),
        get("/links", "after_refusal"),
        get("/consent", "after_refusal"),
        post("/links/<int:link_id>/withdraw", "withdraw_link"),
    ),
    "findings": page(
        "/study/participants",
        get("/", "show"),
        get(f"/report.<{REPORT}:file_format>", "take_away"),
        get("/data/<name>", "data"),
        get("/questions", "questions"),
        post("/<int:participant_id>/questions/<int:number>/category", "set_category"),
        get("/comments", "comments"),
        post("/<int:participant_id>/comments/<comment>/themes", "tag"),
        get("/<int:participant_id>/withdraw", "ask_to_withdraw"),
        post("/<int:participant_id>/withdraw", "withdraw"),
    ),
    "participants": page(
        "/take-part",
        get("/<token>", "consent"),
        post("/<token>", "decide"),
        get("/declined", "declined"),
        post("/pseudonym", "rename"),
        get_or_post("/link", "link"),
    ),
    "own_questions": page(
        "/ask",
        get("/", "index"),
        post("/", "ask"),
        get("/<int:position>", "show"),
        post("/<int:position>/again", "ask_again"),
        get("/<int:position>/again", "after_again"),
        post("/<int:position>/give-up", "give_up"),
        post("/<int:position>/done", "done"),
        post("/<int:position>/results/<int:rank>/judgment", "judge"),
        post("/<int:position>/rating", "rate"),
        post("/undo", "undo"),
    ),
    "questionnaires": page(
        "/closing",
        get("/", "show"),
        post("/answer", "answer"),
        post("/", "finish"),
        get("/thanks", "thanks"),
    ),
}


def blueprints() -> Iterator[Blueprint]:
    """Yield the blueprint of every page, without reading its module."""
    for name, page in PAGES.items():
        blueprint = Blueprint(name, __name__, url_prefix=page.prefix)
        for address in page.addresses:
            view = view_of(name, address.view)
            blueprint.add_url_rule(address.path, address.view, view, methods=address.methods)
        if page.before:
            blueprint.before_request(view_of(name, page.before))
        yield blueprint


@cache  # two addresses of one view must lead to the same function
def view_of(page: str, name: str) -> View:
    """Return the view, whose module is read once it is asked."""

    @cache
    def read() -> View:
        found: View = getattr(import_module(f"webapp.web.{page}"), name)
        return found

    def view(**places: object) -> ResponseReturnValue:
        return read()(**places)

    return view
