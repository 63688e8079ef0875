"""The conflict report on verdicts by hand, given run by run; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Blueprint, Response, render_template, request
from msgspec import Struct

from webapp.i18n import gettext
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.agreement.report import SignTest
from webapp.services.agreement import agreement
from webapp.services.agreement.agreement import (
    MANUAL_FILE,
    RUN_FILE,
    ConflictsOfRuns,
    HandJudgedRun,
)
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import LONGEST_LABEL, LineField, UnusableForm

blueprint = Blueprint("conflicts", __name__, url_prefix="/conflicts")

SLOTS = (1, 2, 3)
"""Runs that can be chosen file by file; a folder may hold more."""

HARDLY_CHANCE = 0.05
"""Below this p-value the page states that chance hardly explains a split."""


class ContradictionLine(Struct, frozen=True):
    """One contradiction: the property, its question, and each run's verdict in order."""

    number: int
    question: str
    title: str
    identity: str
    verdicts: tuple[bool | None, ...]


class Lean(Struct, frozen=True):
    """A sign test; ``once_in`` so many throws coins come out this uneven, where that is seldom."""

    test: SignTest
    once_in: int | None


class ConflictsInWords(Struct, frozen=True):
    """The page's report on the runs: the same figures as the command's."""

    runs: tuple[str, ...]
    pairs_judged_more_than_once: int
    lines: tuple[ContradictionLine, ...]
    favours: dict[str, int]
    leans: tuple[Lean, ...]
    remarks: tuple[str, ...]


class ConflictsPage(Struct, frozen=True):
    """The form, and below it the report or the reason why there is none.

    ``is_of_study`` is true where the report is on runs of this study, not on chosen files.
    """

    slots: tuple[int, ...]
    report: ConflictsInWords | None = None
    refusal: str = ""
    is_of_study: bool = False


@blueprint.get("/")
def show() -> str:
    """Show the form that takes the runs, and the report on those of the study."""
    with access.reading() as (session, rater):
        found = agreement.in_study(session, rater.study)
    page = ConflictsPage(SLOTS, _report(found, []) if found else None, is_of_study=True)
    return render_template("agreement/conflicts/page.html", **htmx.names(page))


@blueprint.post("/")
def compare() -> Response:
    """Compare the chosen runs, or name the files that are missing or wrong."""
    try:
        page, status = ConflictsPage(SLOTS, _compared()), 200
    except ImportRefused as refused:
        page, status = ConflictsPage(SLOTS, refusal=refused.advice()), 422
    except UnusableForm as wrong:
        page, status = ConflictsPage(SLOTS, refusal=" ".join(wrong.messages.values())), 422
    return htmx.respond(
        "agreement/conflicts/page.html", "agreement/conflicts/_report.html", page, status
    )


def _compared() -> ConflictsInWords:
    in_folders, incomplete = agreement.in_folders(_chosen_folder())
    pairs = [*_chosen_pairs(), *in_folders]
    if len(pairs) < 2:
        least = gettext(
            "Choose at least two runs, each with its results.json and its manual_input.json."
        )
        raise UnusableForm({"folder": least})
    found = agreement.compare(agreement.judged_runs(pairs))
    left_out = [
        gettext("%(folder)s holds only one of the two files and was left out.", folder=folder)
        for folder in incomplete
    ]
    return _report(found, left_out)


def _chosen_folder() -> dict[str, bytes]:
    """Return the files of the chosen folder that matter, by their path in it."""
    chosen = request.files.getlist("folder")
    named = {(file.filename or "").replace("\\", "/"): file for file in chosen}
    wanted = (RUN_FILE, MANUAL_FILE)
    return {path: file.read() for path, file in named.items() if path.split("/")[-1] in wanted}


def _chosen_pairs() -> Iterator[HandJudgedRun]:
    slots = {f"name-{slot}": LineField(LONGEST_LABEL) for slot in SLOTS}
    names = forms.valid(forms.named(slots))
    for slot in SLOTS:
        files = [request.files.get(f"{kind}-{slot}") for kind in ("results", "manual")]
        chosen = [file for file in files if file and file.filename]
        if len(chosen) == 1:
            half = gettext(
                "Run %(n)s has only one of its two files. Choose its results.json and its "
                "manual_input.json.",
                n=slot,
            )
            raise UnusableForm({f"results-{slot}": half})
        if chosen:
            name = names[f"name-{slot}"].data or gettext("Run %(n)s", n=slot)
            yield HandJudgedRun(name, chosen[0].read(), chosen[1].read())


def _report(found: ConflictsOfRuns, left_out: list[str]) -> ConflictsInWords:
    report = found.report
    runs = tuple(report.favours)
    contradicting = [
        gettext(
            "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
            "it is left out of this comparison.",
            run=both.run,
            query=found.questions[both.query_id].number,
            property=both.property_id,
        )
        for both in report.self_contradictions
    ]
    return ConflictsInWords(
        runs=runs,
        pairs_judged_more_than_once=report.pairs_judged_more_than_once,
        lines=tuple(
            ContradictionLine(
                found.questions[one.query_id].number,
                found.questions[one.query_id].text,
                found.titles.get(one.property_id, ""),
                one.property_id,
                tuple(one.verdicts.get(run) for run in runs),
            )
            for one in report.contradictions
        ),
        favours=dict(report.favours),
        leans=tuple(
            Lean(test, round(1 / test.p) if test.p < HARDLY_CHANCE else None)
            for test in report.sign_tests
        ),
        remarks=(*left_out, *map(message, found.problems), *contradicting),
    )
