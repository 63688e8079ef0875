"""What became of imported files: lines for people, and one JSON document."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from subprocess import list2cmdline
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from relevansi import labels as words
from relevansi.cli.frame.output import notice, say
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext, ngettext
from relevansi.importers.runs import problems
from relevansi.records import Problem, Severity
from relevansi.services.exports.rated_imports import RatedFileReport, RatedImport
from relevansi.services.exports.ratings import FileEffect, FileValue, RatingCounts, RatingsReport
from relevansi.services.runs.stored_runs import ImportedRun


class ImportOutcome(Struct):
    """What became of the files of one call, by what they are.

    ``rated_csvs`` were stored in the name of a rater, ``compared`` only held against their runs.
    ``problems`` and ``refusals`` are why files were not stored, ``remarks`` are on stored ones.
    """

    runs: list[ImportedRun] = field(default_factory=list)
    ratings: list[RatingsReport] = field(default_factory=list)
    rated_csvs: list[RatedImport] = field(default_factory=list)
    compared: list[RatedFileReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    grades: dict[str, int] = field(default_factory=dict)
    remarks: list[Problem] = field(default_factory=list)


def report(outcome: ImportOutcome) -> None:
    """Print what became of the files."""
    for run in outcome.runs:
        report_run(run)
    for name, n in outcome.grades.items():
        say(f"{name}: {ngettext('%(n)s grade', '%(n)s grades', n)}")
    _report_remarks(outcome.remarks)
    for ratings in outcome.ratings:
        _report_ratings(ratings)
    for compared in outcome.compared:
        _report_compared(compared)
    for rated_csv in outcome.rated_csvs:
        _report_rated_csv(rated_csv)


def report_run(run: ImportedRun) -> None:
    """Print what became of an imported file; what is wrong with it goes to stderr."""
    if run.already_imported:
        state = gettext("already imported")
    elif run.enriched:
        state = gettext("same session, completed from this file")
    else:
        state = gettext("imported")
    cards = ngettext("%(n)s card", "%(n)s cards", run.counts.cards)
    questions = ngettext("%(n)s question", "%(n)s questions", run.counts.queries)
    name = f"{method(run.search_method)}, {run.llm or gettext('not stated')}"
    say(f"{run.id}  {name}: {state}, {questions}, {cards}")
    _report_remarks(run.problems)


def method(label: str | None) -> str:
    """Return a search method in words, with its label behind where that differs."""
    return words.with_label(words.method(label), label) if label else gettext("not stated")


def _report_remarks(remarks: Iterable[Problem]) -> None:
    for remark in problems.remarks(remarks):
        mark = "!!" if remark.severity is Severity.ERROR else "! "
        say(f"  {mark} {remark.text}", err=True)


def _report_ratings(report: RatingsReport) -> None:
    """Print what a file of ratings holds, what it would change, and its contradictions."""
    if report.storable:
        changes = ngettext("%(n)s new change", "%(n)s new changes", report.new)
        state = gettext("already imported") if report.already_imported else changes
        who = gettext("%(name)s (new)", name=report.rater) if report.rater_is_new else report.rater
        counts = gettext(
            "verdicts: %(verdicts)s, empty lists: %(outcomes)s, quality: %(qualities)s, "
            "notes: %(notes)s",
            **asdict(report.counts),
        )
        say(f"{report.run_id}  {who}: {state}; {counts}", err=not report.stored)
    if report.new and not report.rater_is_new:
        kinds = ("relevance", "empty_outcome", "quality", "notes")
        effects = (report.added, report.changed, report.same)
        for kind, name in zip(RatingCounts.__struct_fields__, kinds, strict=True):
            new, changed, same = (getattr(effect, kind) for effect in effects)
            if new or changed or same:
                line = gettext(
                    "%(field)s: %(new)s new, %(changed)s changed, %(same)s the same",
                    field=words.field(name),
                    new=new,
                    changed=changed,
                    same=same,
                )
                say(f"  {line}", err=not report.stored)
    for effect in report.contradictions:
        value = words.judgment(effect.after, effect.field)
        resolution = gettext("the later one is kept: %(kept)s", kept=value)
        say(f"  !  {_differing(effect)}; {resolution}", err=True)
    _report_remarks(report.problems)


def _differing(effect: FileValue) -> str:
    title = effect.title if isinstance(effect, FileEffect) else ""
    return gettext(
        "question %(n)s, %(field)s: here %(here)s, in the file %(file)s",
        n=effect.query_id,
        field=f"“{title}”" if title else words.field(effect.field),
        here=words.judgment(effect.here, effect.field),
        file=words.judgment(effect.in_file, effect.field),
    )


def why_unconfirmed(path: Path, report: RatingsReport) -> str:
    """Return that ratings change those of a known rater, and the command that confirms it."""
    command = ["relevansi", "import", str(path), "--rater", report.rater]
    why = gettext(
        "Nothing of it is stored: %(name)s is a rater of this study already. To store it in "
        "that name: %(command)s",
        name=report.rater,
        command=list2cmdline(command) if os.name == "nt" else shlex.join(command),
    )
    return f"{report.name}: {why}"


def _report_compared(report: RatedFileReport) -> None:
    """Print whether a rated CSV has the figures that its run has here."""
    if report.run_id is None:
        result = gettext("it belongs to no run in its folder")
    elif not report.rated_here:
        result = gettext("run %(run)s is not rated here", run=report.run_id)
    elif report.differing:
        ids = ", ".join(map(str, report.differing))
        result = gettext(
            "run %(run)s has other figures at questions %(ids)s", run=report.run_id, ids=ids
        )
    else:
        result = gettext("run %(run)s has the same figures: it is not needed", run=report.run_id)
    rated = ngettext("%(n)s rated question", "%(n)s rated questions", report.rated)
    counts = gettext(
        "counts of %(rated)s and no verdicts on cards, so nothing is taken from it", rated=rated
    )
    say(f"{report.name}: {counts}; {result}")


def _report_rated_csv(report: RatedImport) -> None:
    """Print what of a rated CSV was stored in the name of its rater."""
    _report_remarks(report.problems)
    if not report.storable:
        return
    for value in report.others:
        say(f"  {_differing(value)}", err=True)
    if report.others and not report.replaced:
        notice(gettext("These stay as they are; --overwrite replaces them."))
    n_stored = len(report.stored(overwrite=report.replaced))
    count = ngettext("%(n)s value stored", "%(n)s values stored", n_stored)
    why = gettext("a rated CSV has no verdicts on cards, so none are taken from it")
    say(f"{report.run_id}  {report.rater}: {count}; {why}")


def why_refused(report: RatedImport) -> str:
    """Return why nothing of a rated CSV can be stored."""
    if not report.rater:
        return problems.message(problems.error("ratings_without_rater", report.name))
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


def outcome_json(outcome: ImportOutcome) -> dict[str, Any]:
    """Return the same as plain values."""
    document: dict[str, Any] = {
        "runs": [
            _picked(run, "id", "search_method", "llm", "already_imported", "enriched")
            | asdict(run.counts)
            for run in outcome.runs
        ],
        "ratings": [_ratings_json(report) for report in outcome.ratings],
        "rated_files": [
            _picked(report, "rated_here", "differing", file="name", run="run_id")
            | {"rated_questions": report.rated}
            for report in outcome.compared
        ],
        "problems": [*map(problems.to_dict, (*outcome.problems, *outcome.remarks))],
    }
    if outcome.grades:
        document["grades"] = outcome.grades
    if outcome.rated_csvs:
        document["rated_csvs"] = [
            _picked(report, "fits", "rater", "refused", "replaced", file="name", run="run_id")
            | {"new": report.new, "others": report.others}
            for report in outcome.rated_csvs
        ]
    return document


def _picked(report: Any, *names: str, **renamed: str) -> dict[str, Any]:
    """Return values of a report, those under other keys as KEY=NAME, and its problems."""
    values = {key: getattr(report, name) for key, name in renamed.items()}
    remarks = [*map(problems.to_dict, report.problems)]
    return fields(report, *names) | values | {"problems": remarks}


def _ratings_json(report: RatingsReport) -> dict[str, Any]:
    effects = {"new": report.added, "changed": report.changed, "same": report.same}
    contradictions = [
        fields(each, "query_id", "field", "title", "here", "in_file") | {"stands": each.after}
        for each in report.contradictions
    ]
    names = ("stored", "rater", "rater_is_new", "already_imported")
    renamed = {"new_changes": "new", "known_changes": "stored_before"}
    return {
        **_picked(report, *names, file="name", run="run_id", **renamed),
        "needs_confirmation": report.needs_confirmation and not report.stored,
        "verdicts": report.counts.verdicts,
        "empty_outcomes": report.counts.outcomes,
        "qualities": report.counts.qualities,
        "notes": report.counts.notes,
        "effects": effects,
        "contradictions": contradictions,
    }
