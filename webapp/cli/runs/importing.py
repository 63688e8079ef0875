"""``relevansi import``, ``relevansi runs`` and ``relevansi delete-run``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import list2cmdline
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import asdict, replace

from webapp import labels as words
from webapp.cli.frame import options, output
from webapp.cli.frame.options import as_json_option
from webapp.cli.frame.output import say, shown, write_json
from webapp.db.engine import Database
from webapp.exporters.frame.csv_cells import rounded
from webapp.i18n import gettext, ngettext
from webapp.importers.runs import problems
from webapp.metrics.runs.provenance import Latency
from webapp.records import Counts, Problem, Severity
from webapp.services.exports import rated_imports
from webapp.services.exports.rated_imports import RatedFileReport, RatedImport
from webapp.services.exports.ratings import FileEffect, RatingsReport
from webapp.services.runs import file_formats, imports, reports, runs, samples
from webapp.services.runs.file_formats import (
    FORMATS,
    RATED_CSV,
    RATINGS,
    RUN,
    FileDecision,
    FileFormat,
    OpenedFile,
    StoredFile,
)
from webapp.services.runs.imports import ImportedRun, ImportReport
from webapp.services.study import studies

KINDS = (
    ("verdicts", "relevance"),
    ("outcomes", "empty_outcome"),
    ("qualities", "quality"),
    ("notes", "notes"),
)
"""Each kind of judgment in ``Counts``, with the field that it is stored in."""


def tell_ratings(report: RatingsReport) -> None:
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


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--method", help="Search method, where the file does not state it.")
@click.option("--llm", help="LLM, where the file does not state it.")
@click.option("--rater", help="Whose the ratings are; needed to add to those of an existing rater.")
@click.option("--overwrite", is_flag=True, help="Let a rated CSV replace what its rater said here.")
@click.option(
    "--blind/--open",
    default=None,
    help="Whether raters rate blind; else they do as soon as two runs share their questions.",
)
@as_json_option
def import_command(
    paths: Sequence[Path],
    method: str | None,
    llm: str | None,
    rater: str | None,
    *,
    overwrite: bool,
    blind: bool | None,
    as_json: bool,
) -> None:
    """Import run files and ratings from pages without a server, recognised by content.

    Of a folder every such file is read, the runs before their ratings. Ratings with new changes
    in the name of a rater whom the study has are refused, with what they would change, until
    --rater says that name. Of a rated CSV that is named with --rater, quality, notes and empty
    outcomes become that rater's; it has no verdicts.
    """
    decision = FileDecision(
        rater=rater, confirm=rater is not None, method=method or "", llm=llm or ""
    )
    sheets = [path for path in paths if rater and path.suffix.lower() == ".csv"]
    paths = [path for path in paths if path not in sheets]
    refused: list[Problem] = []
    with options.opened() as opened:
        found = _import_all(opened, paths, decision, blind, refused)
        of_csv = replace(decision, confirm=overwrite)
        taken = [
            store_file(opened, _opened(path.name, path, RATED_CSV), of_csv).report
            for path in _readable(sheets, refused)
        ]
        is_sample = _is_any_sample(opened, found.runs)
    if as_json:
        document = _document(found)
        if taken:
            document["rated_csvs"] = [taken_json(report) for report in taken]
        write_json(document)
    else:
        _tell_found(found)
        for report_of_csv in taken:
            tell_taken(report_of_csv)
    if is_sample:
        warning = gettext(
            "The invented sample of the demo is in this study now, and counts like your own runs. "
            "The page Home removes it."
        )
        say(f"relevansi: {warning}", err=True)
    is_whole = _tell_left(found, [report for report in taken if not report.storable])
    if not (found.runs or found.refused or found.ratings or taken):
        raise click.ClickException(gettext("There is no run file in what was given."))
    if not is_whole:
        raise SystemExit(1)


def _tell_left(found: _Found, untaken: Sequence[RatedImport]) -> bool:
    for problem in found.refused:
        say(f"relevansi: {problems.message(problem)}", err=True)
    for path, ratings in found.ratings:
        if ratings.needs_confirmation and not ratings.stored:
            why = why_unconfirmed(path, ratings)
            say(f"relevansi: {ratings.name}: {why}", err=True)
    for report in untaken:
        say(f"relevansi: {report.name}: {why_refused(report)}", err=True)
    is_stored = all(ratings.stored for _, ratings in found.ratings)
    return is_stored and not found.refused and not untaken


def _is_any_sample(opened: Database, stored: Sequence[ImportedRun]) -> bool:
    if not stored:
        return False
    with opened.reading() as session:
        study = studies.current(session)
        assert study is not None
        return bool({run.id for run in samples.found(session, study)} & {run.id for run in stored})


def _tell_found(found: _Found) -> None:
    for run in found.runs:
        tell(run)
    for _, ratings in found.ratings:
        tell_ratings(ratings)
    for compared in found.compared:
        tell_compared(compared)


@click.command("runs")
@as_json_option
def runs_command(*, as_json: bool) -> None:
    """List the runs of the study, in its order, with how far they are rated.

    By the study's rule: the only rater's own verdicts, else the majority.
    """
    with options.reading() as (session, study):
        rater = studies.raters(session, study)[0]
        found = runs.overviews(session, rater)
        rule = reports.rule_of(session, study)
        standings = {run.id: reports.standing(session, study, run.id, rule) for run in found}
        latencies = {run.id: runs.latency_of(session, run.id) for run in found if as_json}
    if as_json:
        listed = [
            {
                "id": run.id,
                "search_method": run.search_method,
                "llm": run.llm,
                **_counts_json(run.counts),
                "rule": rule.name,
                "complete": standings[run.id].totals.n_complete,
                "open_judgments": standings[run.id].open_judgments,
                "timestamp": run.timestamp,
                "imported_at": run.imported_at.isoformat(),
                "latency_ms": _latency_json(latencies[run.id]),
            }
            for run in found
        ]
        write_json({"runs": listed})
        return
    for run in found:
        left = words.work_left(*standings[run.id].work_left)
        say(f"{run.id}  {_method(run.search_method)}  {_label(run.llm)}  {left}")


def _latency_json(latency: Latency | None) -> dict[str, float] | None:
    found: dict[str, float] | None = rounded(asdict(latency)) if latency else None
    return found


class _Found(Struct, frozen=True):
    runs: list[ImportedRun]
    ratings: list[tuple[Path, RatingsReport]]
    compared: list[RatedFileReport]
    refused: list[Problem]


def _import_all(
    opened: Database,
    paths: Sequence[Path],
    decision: FileDecision,
    blind: bool | None,
    refused: list[Problem],
) -> _Found:
    turns = {
        path: file_formats.turn(path.name, path.read_bytes(), (RATINGS, RUN))
        for path in _readable(_files(paths), refused)
    }
    found = _Found([], [], [], refused)
    by_folder: dict[Path, list[str]] = {}
    newcomers: set[str] = set()
    with output.steps() as tell:
        for done, path in enumerate(sorted(turns, key=lambda path: turns[path])):
            tell(done, len(turns))
            is_of_ratings = turns[path] == -FORMATS.index(RATINGS)
            name = path.name if is_of_ratings else _name(path)
            file = _opened(name, path, RATINGS, RUN)
            stored = store_file(opened, file, decision, newcomers, blind=blind)
            newcomers.update([stored.newcomer] if stored.newcomer else [])
            if isinstance(stored.report, RatingsReport):
                found.ratings.append((path, stored.report))
            elif isinstance(stored.report, ImportedRun):
                found.runs.append(stored.report)
                by_folder.setdefault(path.parent, []).append(stored.report.id)
            elif path in paths or not stored.report.is_something_else:
                refused.extend(stored.report.problems)
        tell(len(turns), len(turns))
    beside = [path for folder in paths if folder.is_dir() for path in _rated_csvs(folder)]
    found.compared.extend(compare(opened, path, by_folder) for path in _readable(beside, refused))
    return found


def _opened(name: str, path: Path, *among: FileFormat) -> OpenedFile:
    return file_formats.opened(name, path.read_bytes(), among=among)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    # "Latest" copies come last, when the dated files they are copies of are known.
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("*.json"), reverse=True)
            yield from sorted(found, key=lambda file: file.stem.endswith("_latest"))
        else:
            yield path


def _readable(paths: Iterable[Path], refused: list[Problem]) -> list[Path]:
    readable = []
    for path in paths:
        try:
            if path.is_file():  # a pipe or a device could be read without end
                path.open("rb").close()
                readable.append(path)
            elif not path.is_dir():
                refused.append(problems.error("not_a_file", _name(path)))
        except OSError as failure:
            reason = failure.strerror or str(failure)
            refused.append(problems.error("unreadable_file", _name(path), {"reason": reason}))
    return readable


def _name(path: Path) -> str:
    return "/".join(path.absolute().parts[-2:])


def _rated_csvs(folder: Path) -> list[Path]:
    return sorted(folder.rglob("evaluation_rated_*.csv"))


def _document(found: _Found) -> dict[str, Any]:
    return {
        "runs": [_run_json(run) for run in found.runs],
        "ratings": [as_json(report) for _, report in found.ratings],
        "rated_files": [compared_json(report) for report in found.compared],
        "problems": [problems.to_dict(problem) for problem in found.refused],
    }


def store_file(
    opened: Database,
    file: OpenedFile,
    decision: FileDecision,
    newcomers: Container[str] = (),
    *,
    blind: bool | None = None,
) -> StoredFile:
    """Store one file in a transaction of its own, as far as it can be.

    `blind` sets how the study is rated; else it is said before a run makes it blind.
    """
    with opened.writing() as session:
        now = options.now()
        study = studies.open_or_make(session, now)
        if isinstance(file.read, ImportReport) and file.read.read is not None:
            if blind is not None:
                switched = replace(studies.switches(study), blind=blind)
                studies.set_switches(session, study, switched, now)
            else:
                report = file.format.look(session, study, file.read, None, now)
                if imports.turns_blind(session, study, [report]):
                    say(f"relevansi: {_turned_blind()}", err=True)
        stored = file.format.store(session, study, file.read, decision, newcomers, now)
        if not isinstance(stored.report, ImportReport):
            session.commit()
    return stored


def store_run_file(
    opened: Database, path: Path, decision: FileDecision
) -> ImportedRun | ImportReport:
    """Store a run file; return why not, where it cannot be."""
    report: ImportedRun | ImportReport = store_file(
        opened, _opened(_name(path), path, RUN), decision
    ).report
    return report


def _turned_blind() -> str:
    return gettext(
        "From now on this study is rated blind, because two of its runs have the same questions: "
        "raters see neither run nor method, and judge each property once, whichever run showed "
        "it. Every verdict so far stays and counts. `--open` keeps it open; the set-up of the "
        "study can change it later."
    )


def _run_json(run: ImportedRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "search_method": run.search_method,
        "llm": run.llm,
        **_counts_json(run.counts),
        "already_imported": run.already_imported,
        "enriched": run.enriched,
        "problems": [problems.to_dict(problem) for problem in run.problems],
    }


def _counts_json(counts: Counts) -> dict[str, int]:
    return {
        "queries": counts.queries,
        "cards": counts.cards,
        "with_results": counts.with_results,
        "empty": counts.empty,
        "failed": counts.failed,
        "unreadable": counts.unreadable,
    }


def tell(run: ImportedRun) -> None:
    """Print what became of an imported file; what is wrong with it goes to stderr."""
    if run.already_imported:
        state = gettext("already imported")
    elif run.enriched:
        state = gettext("same session, completed from this file")
    else:
        state = gettext("imported")
    cards = ngettext("%(n)s card", "%(n)s cards", run.counts.cards)
    questions = ngettext("%(n)s question", "%(n)s questions", run.counts.queries)
    called = f"{_method(run.search_method)}, {_label(run.llm)}"
    say(f"{run.id}  {called}: {state}, {questions}, {cards}")
    for remark in problems.remarks(run.problems):
        mark = "!!" if remark.severity is Severity.ERROR else "! "
        say(f"  {mark} {remark.text}", err=True)


def _method(label: str | None) -> str:
    return words.with_label(words.method(label), label) if label else gettext("not stated")


def _label(text: str | None) -> str:
    return text or gettext("not stated")


@click.command("delete-run")
@click.argument("run_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Delete without asking.")
def delete_run_command(run_id: str, *, yes: bool) -> None:
    """Delete the run ID with the judgments that belong to it alone.

    What goes and what stays is said first. `relevansi runs` lists the runs with their IDs.
    """
    with options.reading() as (session, study):
        run = runs.find(session, study, run_id)
        cost = runs.deletion_cost(session, study, run_id)
        name = f"{run.id} ({run.search_method or '-'}, {run.llm or '-'})"
    goes, stays = ("; ".join(listed) for listed in (cost.losses(), cost.remains()))
    say(f"{name}. {gettext('What goes')}: {goes}. {gettext('What stays')}: {stays}.", err=True)
    if not (yes or _is_confirmed(name)):
        raise click.ClickException(gettext("Nothing is deleted; --yes deletes without asking."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        runs.delete_run(session, study, run_id, options.now())
        session.commit()
    say(gettext("%(name)s is deleted. The file can be imported again.", name=name))


def _is_confirmed(name: str) -> bool:
    try:
        return click.confirm(shown(gettext("Delete %(name)s?", name=name)), err=True)
    except click.Abort:
        return False
