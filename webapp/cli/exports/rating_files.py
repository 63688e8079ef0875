"""Files of ratings for ``relevansi import``: from pages without a server, and rated CSVs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import list2cmdline
from typing import Any

from msgspec.structs import asdict

from webapp import labels as words
from webapp.cli.frame.output import say
from webapp.db.engine import Database
from webapp.i18n import gettext, ngettext
from webapp.importers.runs import problems
from webapp.records import Severity
from webapp.services.exports import rated_imports
from webapp.services.exports.rated_imports import RatedFileReport, RatedImport
from webapp.services.exports.ratings import FileEffect, RatingsReport
from webapp.services.study import studies

KINDS = (
    ("verdicts", "relevance"),
    ("outcomes", "empty_outcome"),
    ("qualities", "quality"),
    ("notes", "notes"),
)
"""Each kind of judgment in ``Counts``, with the field that it is stored in."""


def tell(report: RatingsReport) -> None:
    """Print what became of a file of ratings; what is wrong with it goes to stderr."""
    if report.storable:
        changes = ngettext("%(n)s new change", "%(n)s new changes", report.new)
        state = gettext("already imported") if report.already_imported else changes
        who = gettext("%(name)s (new)", name=report.rater) if report.rater_is_new else report.rater
        said = report.counts
        counted = gettext(
            "verdicts: %(verdicts)s, empty lists: %(outcomes)s, quality: %(qualities)s, "
            "notes: %(notes)s",
            verdicts=said.verdicts,
            outcomes=said.outcomes,
            qualities=said.qualities,
            notes=said.notes,
        )
        say(f"{report.run_id}  {who}: {state}; {counted}", err=not report.stored)
    if report.new and not report.rater_is_new:
        _tell_effects(report)
    for one in report.contradictions:
        told = gettext(
            "%(place)s: here %(here)s, in the file %(file)s; the later one is kept: %(kept)s",
            place=_place(one),
            here=words.judgment(one.here, one.field),
            file=words.judgment(one.in_file, one.field),
            kept=words.judgment(one.kept, one.field),
        )
        say(f"  !  {told}", err=True)
    for remark in problems.remarks(report.problems):
        mark = "!!" if remark.severity is Severity.ERROR else "! "
        say(f"  {mark} {remark.text}", err=True)


def _tell_effects(report: RatingsReport) -> None:
    """Print for each kind of judgment of an existing rater how much a file changes."""
    for kind, field in KINDS:
        counts = [getattr(one, kind) for one in (report.added, report.changed, report.same)]
        if any(counts):
            new, changed, same = counts
            told = gettext(
                "%(field)s: %(new)s new, %(changed)s changed, %(same)s the same",
                field=words.field(field),
                new=new,
                changed=changed,
                same=same,
            )
            say(f"  {told}", err=not report.stored)


def _place(one: FileEffect) -> str:
    """Return the question of a judgment with its card, or with the kind of judgment."""
    place = gettext("question %(n)s", n=one.query_id)
    return f"{place}, “{one.title}”" if one.title else f"{place}, {words.field(one.field)}"


def why_unconfirmed(path: Path, report: RatingsReport) -> str:
    """Return the message that asks for a rater's name, with the command that gives it."""
    command = ["relevansi", "import", str(path), "--rater", report.rater]
    return gettext(
        "Nothing of it is stored: %(name)s is a rater of this study already. To store it in "
        "that name: %(command)s",
        name=report.rater,
        command=list2cmdline(command) if os.name == "nt" else shlex.join(command),
    )


def as_json(report: RatingsReport) -> dict[str, Any]:
    """Return a report as ``import --json`` prints it."""
    return {
        "file": report.name,
        "stored": report.stored,
        "needs_confirmation": report.needs_confirmation and not report.stored,
        "run": report.run_id,
        "rater": report.rater,
        "rater_is_new": report.rater_is_new,
        "already_imported": report.already_imported,
        "new_changes": report.new,
        "known_changes": report.known,
        "verdicts": report.counts.verdicts,
        "empty_outcomes": report.counts.outcomes,
        "qualities": report.counts.qualities,
        "notes": report.counts.notes,
        "effects": {
            "new": asdict(report.added),
            "changed": asdict(report.changed),
            "same": asdict(report.same),
        },
        "contradictions": [
            {
                "query_id": one.query_id,
                "field": one.field,
                "title": one.title,
                "here": one.here,
                "in_file": one.in_file,
                "stands": one.kept,
            }
            for one in report.contradictions
        ],
        "problems": [problems.to_dict(problem) for problem in report.problems],
    }


def tell_taken(report: RatedImport) -> None:
    """Print what was taken from a rated CSV; what is wrong with its lines goes to stderr."""
    for remark in problems.remarks(report.problems):
        say(f"  {remark.text}", err=True)
    if not report.storable:
        return
    for other in report.others:
        said = gettext(
            "question %(n)s, %(field)s: here %(here)s, in the file %(file)s",
            n=other.query_id,
            field=words.field(other.field),
            here=words.judgment(other.here, other.field),
            file=words.judgment(other.in_file, other.field),
        )
        say(f"  {said}", err=True)
    if report.others and not report.replaced:
        say("relevansi: " + gettext("These stay as they are; --overwrite replaces them."), err=True)
    stored = len(report.stored(overwrite=report.replaced))
    say(
        f"{report.run_id}  {report.rater}: "
        + ngettext("%(n)s value stored", "%(n)s values stored", stored)
        + "; "
        + gettext("a rated CSV has no verdicts on cards, so none are taken from it")
    )


def why_refused(report: RatedImport) -> str:
    """Return the reason why nothing could be taken from a rated CSV."""
    if report.refused:
        return gettext("%(name)s is a machine or was removed.", name=report.rater)
    if report.fits:
        return gettext(
            "Several runs have its questions with its numbers of results: %(runs)s.",
            runs=", ".join(report.fits),
        )
    if not report.lines:
        return gettext("None of its lines can be used.")
    return gettext(
        "No run here has its questions with its numbers of results. Import its run first."
    )


def taken_json(report: RatedImport) -> dict[str, Any]:
    """Return what was taken from a rated CSV, as ``import --json`` prints it."""
    return {
        "file": report.name,
        "run": report.run_id,
        "fits": list(report.fits),
        "rater": report.rater,
        "refused": report.refused,
        "new": [asdict(value) for value in report.new],
        "others": [asdict(value) for value in report.others],
        "replaced": report.replaced,
        "problems": [problems.to_dict(problem) for problem in report.problems],
    }


def compare(
    opened: Database, path: Path, by_folder: Mapping[Path, Sequence[str]]
) -> RatedFileReport:
    """Return what a rated CSV is to the runs imported from its folder."""
    with opened.reading() as session:
        study = studies.current(session)
        assert study is not None
        runs = by_folder.get(path.parent, ())
        name = "/".join(path.absolute().parts[-2:])
        return rated_imports.compare(session, study, name, path.read_bytes(), runs)


def tell_compared(report: RatedFileReport) -> None:
    """Print what a rated CSV is good for: it has counts, and no verdicts to take back."""
    if report.run_id is None:
        said = gettext("it belongs to no run in its folder")
    elif not report.rated_here:
        said = gettext("run %(run)s is not rated here", run=report.run_id)
    elif report.differing:
        ids = ", ".join(map(str, report.differing))
        said = gettext(
            "run %(run)s has other figures at questions %(ids)s", run=report.run_id, ids=ids
        )
    else:
        said = gettext("run %(run)s has the same figures: it is not needed", run=report.run_id)
    rated = ngettext("%(n)s rated question", "%(n)s rated questions", report.rated)
    counts = gettext(
        "counts of %(rated)s and no verdicts on cards, so nothing is taken from it", rated=rated
    )
    say(f"{report.name}: {counts}; {said}")


def compared_json(report: RatedFileReport) -> dict[str, Any]:
    """Return what a rated CSV is, as ``import --json`` prints it."""
    return {
        "file": report.name,
        "run": report.run_id,
        "rated_questions": report.rated,
        "rated_here": report.rated_here,
        "differing": list(report.differing),
        "problems": [problems.to_dict(problem) for problem in report.problems],
    }
