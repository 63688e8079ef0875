"""``relevansi import``."""

from __future__ import annotations

import gc
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from subprocess import list2cmdline
from typing import Any, cast

import click
import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from relevansi import labels as words
from relevansi.cli.frame import options
from relevansi.cli.frame.options import Command, Reply, replies
from relevansi.cli.frame.output import notice, say, steps
from relevansi.db.engine import Database
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext, ngettext
from relevansi.importers.results import files
from relevansi.importers.results.assemble import grades_in
from relevansi.importers.results.formats import DEPTH, MOST_DEPTH, Choices
from relevansi.importers.results.rows import MAPPED_ROLES
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused, UnknownRunFormat
from relevansi.records import OnProgress, Problem, Severity, no_progress
from relevansi.services.catalogue import imports as catalogue_imports
from relevansi.services.catalogue.imports import Mode
from relevansi.services.exports import rated_imports
from relevansi.services.exports.rated_imports import RatedFileReport, RatedImport, RatedValue
from relevansi.services.exports.ratings import FileEffect, RatingCounts, RatingsReport
from relevansi.services.runs import file_formats, samples
from relevansi.services.runs.file_formats import (
    FORMATS,
    RATED_CSV,
    RATINGS,
    RESULTS,
    RUN,
    FileDecision,
    FileFormat,
    ReadFile,
    StoredFile,
)
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.runs.stored_runs import ImportedRun
from relevansi.services.study import studies

LONGEST_HEAD = 2**20
"""So much of a file is read to recognise it."""


def reads_results(command: Command) -> Command:
    """Give the command its ``choices``, by options that say how files of results are read."""

    @click.option("--grades", help="Which grade of the files is which here: 0=0,50=1,100=2.")
    @click.option(
        "--map",
        "mapping",
        help="Where what stands in JSON: query=q.text,items=out.hits,doc_id=id,text=body,...",
    )
    @click.option("--columns", help="Which column is what: query=Frage,doc_id=Nummer,...")
    @click.option(
        "--depth",
        type=click.IntRange(1, MOST_DEPTH),
        default=DEPTH,
        help="So many results of each list are judged; deeper ones are kept as ids.",
    )
    @click.option("--split", help="Which of several sets of grades: test, dev, ...")
    @wraps(command)
    def reading(
        *args: Any,
        grades: str | None,
        mapping: str | None,
        columns: str | None,
        depth: int,
        split: str | None,
        **options: Any,
    ) -> Any:
        choices = Choices(
            columns=_roles(columns, "--columns") | _roles(mapping, "--map"),
            depth=depth,
            split=split,
            grades=_grades(grades),
        )
        return command(*args, choices=choices, **options)

    return cast("Command", reading)


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
@reads_results
@click.option(
    "--same-documents",
    is_flag=True,
    help="Documents with another text than before are the same: verdicts on them carry over.",
)
@click.option("--metadata", help="The keys of metadata that raters see, with commas between.")
@click.option("--catalogue", is_flag=True, help="Keep all documents of a collection to look up.")
@replies()
def import_command(
    paths: Sequence[Path],
    *,
    overwrite: bool,
    blind: bool | None,
    catalogue: bool,
    choices: Choices,
    reply: Reply,
    **values: Any,
) -> None:
    """Import run files and ratings from pages without a server, recognised by content.

    Of a folder every such file is read, the runs before their ratings. Ratings with new changes
    in the name of a rater whom the study has are refused, with what they would change, until
    --rater says that name. Of a rated CSV that is named with --rater, quality, notes and empty
    outcomes become that rater's; it has no verdicts.

    Results of any search or RAG system (tables, JSON, TREC, BEIR, ...) that are named together are
    one import: runs, their questions, their documents and grades. Each system becomes a run.
    """
    method, llm = values["method"] or "", values["llm"] or ""
    decision = FileDecision(
        rater=values["rater"],
        confirm=values["rater"] is not None,
        grader=values["rater"] or "",
        meta=None if values["metadata"] is None else _listed(values["metadata"]),
        same_documents=values["same_documents"],
        method=method,
        llm=llm,
    )
    choices = replace(choices, method=method, llm=llm)
    with options.opened() as opened:
        outcome = _Import(opened, decision, choices, overwrite, blind, catalogue)
        with without_collecting():
            outcome.take(paths)
        with opened.reading() as session:
            study = studies.current(session)
            sample = {run.id for run in samples.sample_runs(session, study)} if study else set()
    if reply.is_json:
        reply.json(_outcome_json(outcome))
    else:
        _report(outcome)
    if {run.id for run in outcome.runs} & sample:
        line = gettext(
            "The invented sample of the demo is in this study now, and counts like your own "
            "runs. The page Home removes it."
        )
        notice(line)
    refusals = [*map(problems.message, outcome.problems), *outcome.refusals]
    for line in refusals:
        notice(line)
    is_empty = not (outcome.runs or outcome.ratings or outcome.rated_csvs or outcome.grades)
    if is_empty and not refusals:
        raise click.ClickException(gettext("There is no run file in what was given."))
    if refusals or not all(report.stored for report in outcome.ratings):
        raise SystemExit(1)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Stop Python's garbage collector inside the block: rows have no cycles, and it takes long."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _roles(text: str | None, option: str) -> dict[str, str]:
    parts = [part.partition("=") for part in _listed(text or "")]
    pairs = [(role.strip(), name.strip()) for role, _, name in parts]
    if any(role not in MAPPED_ROLES or not name for role, name in pairs):
        roles = ", ".join(MAPPED_ROLES)
        why = gettext("columns are named as ROLE=NAME; the roles: %(roles)s", roles=roles)
        raise click.BadParameter(why, param_hint=option)
    return dict(pairs)


def _grades(text: str | None) -> dict[str, str]:
    table = grades_in(text or "")
    if table is None:
        why = gettext("grades are named as GRADE=HERE, such as 0=0,50=1,100=2")
        raise click.BadParameter(why, param_hint="--grades")
    return table


def _results_in(paths: Sequence[Path]) -> list[Path]:
    """The paths that hold results of search or RAG systems; a folder where all its files do."""

    def has_results(path: Path) -> bool:
        if not path.is_dir():
            return path.is_file() and file_formats.recognised(path.name, _content(path)) is RESULTS
        inside = [file for file in sorted(path.rglob("*")) if file.is_file()]
        kinds = {file_formats.recognised(file.name, _content(file)) for file in inside}
        return kinds == {RESULTS}

    return [path for path in paths if has_results(path)]


def _content(path: Path) -> bytes:
    """The beginning of a file; all of one JSON object, whose kind is known by its structure."""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(LONGEST_HEAD)
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or _has_object_in_first_line(head):
            return head
        file.seek(0)
        return file.read()
    return b""


def _has_object_in_first_line(head: bytes) -> bool:
    """Whether another line follows an object: then the file may be a collection of gigabytes."""
    first, _, further_lines = head.partition(b"\n")
    with suppress(msgspec.DecodeError):
        return bool(further_lines.strip()) and isinstance(msgspec.json.decode(first), dict)
    return False


class _Import(Struct):
    """How the files of one call are read and stored, and what became of them."""

    database: Database
    decision: FileDecision
    choices: Choices
    overwrite: bool
    blind: bool | None
    catalogue: bool
    newcomers: set[str] = field(default_factory=set)
    runs: list[ImportedRun] = field(default_factory=list)
    ratings: list[RatingsReport] = field(default_factory=list)
    rated_csvs: list[RatedImport] = field(default_factory=list)
    compared: list[RatedFileReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    grades: dict[str, int] = field(default_factory=dict)
    remarks: list[Problem] = field(default_factory=list)

    def take(self, paths: Sequence[Path]) -> None:
        """Store what the paths hold: runs and their ratings, then results as one import."""
        of_results = _results_in(paths)
        of_runs = [path for path in paths if path not in of_results]
        recognised = []
        for path in self._readable(_files(of_runs)):
            form = file_formats.recognised(path.name, path.read_bytes())
            if form is not RESULTS:  # of a folder of runs, other files are not imported
                recognised.append((path, form))
        run_ids_by_folder: dict[Path, list[str]] = {}
        # Ratings need the runs that they are of: `FORMATS` has these last.
        runs_first = sorted(recognised, key=lambda file: -FORMATS.index(file[1]))
        with steps() as on_progress:
            for n, (path, form) in enumerate(runs_first):
                on_progress(n, len(runs_first))
                run_ids = self._store(path, opened_file(path, form), is_named=path in of_runs)
                run_ids_by_folder.setdefault(path.parent, []).extend(run_ids)
            on_progress(len(runs_first), len(runs_first))
        self._compare_rated(of_runs, run_ids_by_folder)
        if of_results:
            self._take_results(of_results)

    def _compare_rated(
        self, paths: Sequence[Path], run_ids_by_folder: Mapping[Path, Sequence[str]]
    ) -> None:
        """Compare the rated CSVs of folders in the layout of the original scripts."""
        for folder in paths:
            for path in self._readable(sorted(folder.rglob("evaluation_rated_*.csv"))):
                data = path.read_bytes()
                run_ids = run_ids_by_folder.get(path.parent, ())
                with self.database.writing() as session:
                    study = studies.open_or_make(session, options.now())
                    report = rated_imports.compare(session, study, _name(path), data, run_ids)
                self.compared.append(report)

    def _take_results(self, paths: Sequence[Path]) -> None:
        """Store results of any system as one import, and their collections if asked to."""
        with steps() as on_progress:
            name = ", ".join(path.name for path in paths)
            file = file_formats.read_results(name, paths, self.choices, on_progress)
            with self.database.reading() as session:
                study = studies.current(session)
                if study is not None:
                    file = file_formats.with_known_columns(study, file, on_progress)
            stored = self._store(paths[0], file, is_named=True, on_progress=on_progress)
        if not stored:
            return
        for path_name, kind in file.read.scorable.items():
            line = gettext(
                "%(name)s can be scored automatically too: %(command)s",
                name=path_name,
                command=f"relevansi score {kind} {path_name}",
            )
            notice(line)
        candidates = (path.parent / name for path in paths for name in file.read.collections)
        self._keep_collections([path for path in dict.fromkeys(candidates) if path.is_file()])

    def _keep_collections(self, paths: Sequence[Path]) -> None:
        """Take whole collections into the catalogue, or say how that is done."""
        names = ", ".join(path.name for path in paths)
        if paths and self.catalogue:
            with steps() as on_progress:
                outcome = catalogue_imports.import_files(
                    self.database,
                    paths,
                    Mode.ADD,
                    options.now(),
                    is_stream=True,
                    on_progress=on_progress,
                )
            notice(gettext("The catalogue has %(n)s items now.", n=outcome.total))
        elif paths:
            line = gettext(
                "Keep all documents of %(names)s so that raters can look them up: %(command)s",
                names=names,
                command=f"relevansi catalogue import {names.replace(', ', ' ')}",
            )
            notice(line)

    def _store(
        self, path: Path, file: ReadFile, *, is_named: bool, on_progress: OnProgress = no_progress
    ) -> Sequence[str]:
        """Store one file, and return the ids of the runs that it is of."""
        is_csv = file.format is RATED_CSV
        decision = replace(self.decision, confirm=self.overwrite) if is_csv else self.decision
        try:
            stored = store_file(
                self.database,
                file,
                decision,
                self.newcomers,
                blind=self.blind,
                on_progress=on_progress,
            )
        except ImportRefused as refused:
            if file.format is RATINGS:
                self.ratings.append(RatingsReport(refused.name, tuple(refused.problems)))
            elif is_named or not isinstance(refused, UnknownRunFormat):
                self.problems.extend(refused.problems)
            return ()
        match stored.report:
            case RatingsReport() as report:
                self.ratings.append(report)
                if report.needs_confirmation and not report.stored:
                    self.refusals.append(_why_unconfirmed(path, report))
            case RatedImport() as report:
                self.rated_csvs.append(report)
                if not report.storable:
                    self.refusals.append(f"{report.name}: {_why_refused(report)}")
            case ImportedRun() as run:
                self.runs.append(run)
            case StoredResults() as results:
                self.runs.extend(results.runs)
                self.grades.update(results.grades)
                self.remarks.extend(results.problems)
        return stored.runs

    def _readable(self, paths: Iterable[Path]) -> list[Path]:
        readable = []
        for path in paths:
            if path.is_dir():
                continue
            try:
                files.check(_name(path), path)
                readable.append(path)
            except problems.UnreadableFile as failure:
                self.problems.extend(failure.problems)
        return readable


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files named and those of folders, the newest first by their dated names."""
    for path in paths:
        # "Latest" copies come last, when the dated files they are copies of are known.
        inside = sorted(path.rglob("*.json"), reverse=True) if path.is_dir() else [path]
        yield from sorted(inside, key=lambda file: file.stem.endswith("_latest"))


def _name(path: Path) -> str:
    """The name of a file after its folder, which names the search method of a run."""
    return "/".join(path.absolute().parts[-2:])


def opened_file(path: Path, form: FileFormat) -> ReadFile:
    """Return a file as its format reads it."""
    name = _name(path) if form is RUN else path.name
    return file_formats.read_file(form, name, path.read_bytes())


def store_file(
    database: Database,
    file: ReadFile,
    decision: FileDecision,
    newcomers: set[str],
    *,
    blind: bool | None = None,
    on_progress: OnProgress = no_progress,
) -> StoredFile:
    """Store one file in a transaction of its own; `blind` sets how the study is rated.

    Raises an ``ImportRefused`` where nothing of it can be stored.
    """
    if isinstance(file.read, ImportRefused):
        raise file.read
    if refused := file_formats.why_refused(file):
        raise ImportRefused(*refused)
    with database.writing() as session:
        now = options.now()
        study = studies.open_or_make(session, now)
        if file.format in (RUN, RESULTS):
            report = file_formats.examine(session, study, file, None, now)
            if becomes := file_formats.becomes(session, study, [report]):
                notice(gettext(becomes))
            if blind is not None:
                switched = replace(studies.switches(study), blind=blind)
                studies.set_switches(session, study, switched, now)
            elif file_formats.turns_blind(session, study, [report]):
                line = gettext(
                    "From now on this study is rated blind, because two of its runs have the same "
                    "questions: raters see neither run nor method, and judge each property once, "
                    "whichever run showed it. Every verdict so far stays and counts. `--open` "
                    "keeps it open; the set-up of the study can change it later."
                )
                notice(line)
        stored = file_formats.store(session, study, file, decision, newcomers, now, on_progress)
        session.commit()
    return stored


def _report(outcome: _Import) -> None:
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


def _differing(effect: FileEffect | RatedValue) -> str:
    title = effect.title if isinstance(effect, FileEffect) else ""
    return gettext(
        "question %(n)s, %(field)s: here %(here)s, in the file %(file)s",
        n=effect.query_id,
        field=f"“{title}”" if title else words.field(effect.field),
        here=words.judgment(effect.here, effect.field),
        file=words.judgment(effect.in_file, effect.field),
    )


def _why_unconfirmed(path: Path, report: RatingsReport) -> str:
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


def _why_refused(report: RatedImport) -> str:
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


def _outcome_json(outcome: _Import) -> dict[str, Any]:
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
