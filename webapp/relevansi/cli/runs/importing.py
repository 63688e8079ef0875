"""``relevansi import``."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from relevansi.cli.frame import options
from relevansi.cli.frame.options import Command, Reply, replies
from relevansi.cli.frame.output import notice, steps
from relevansi.cli.runs import import_report
from relevansi.cli.runs.import_report import ImportOutcome
from relevansi.db.engine import Database
from relevansi.i18n import gettext
from relevansi.importers.results import files
from relevansi.importers.results.formats import DEPTH, MOST_DEPTH, Choices
from relevansi.importers.results.grades import grades_in
from relevansi.importers.results.rows import MAPPED_ROLES
from relevansi.importers.runs import problems
from relevansi.importers.runs.csv_ratings import RatedFile
from relevansi.importers.runs.problems import ImportRefused, UnknownRunFormat
from relevansi.records import OnProgress, no_progress
from relevansi.services.catalogue import imports as catalogue_imports
from relevansi.services.catalogue.imports import Mode
from relevansi.services.exports import rated_imports
from relevansi.services.exports.rated_imports import RatedImport
from relevansi.services.exports.ratings import RatingsReport
from relevansi.services.runs import file_formats
from relevansi.services.runs.file_formats import (
    STORING_ORDER,
    FileDecision,
    FileFormat,
    ReadFile,
    StoredFile,
)
from relevansi.services.runs.results import ResultsReport
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
        file_import = _Import(opened, decision, choices, overwrite, blind, catalogue)
        with without_collecting():
            file_import.take(paths)
    outcome = file_import.outcome
    if reply.is_json:
        reply.json(import_report.outcome_json(outcome))
    else:
        import_report.report(outcome)
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


def _files_at(path: Path) -> list[Path]:
    """The file at a path, or all files of a folder."""
    listed = path.rglob("*") if path.is_dir() else [path]
    return [file for file in listed if file.is_file()]


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
    """How the files of one call are read and stored, and their outcome so far."""

    database: Database
    decision: FileDecision
    choices: Choices
    overwrite: bool
    blind: bool | None
    catalogue: bool
    newcomers: set[str] = field(default_factory=set)
    outcome: ImportOutcome = field(default_factory=ImportOutcome)

    def take(self, paths: Sequence[Path]) -> None:
        """Store what the paths hold: runs and their ratings, then results as one import."""
        inside = {path: _files_at(path) for path in paths}
        forms = {
            file: file_formats.recognised(file.name, _content(file))
            for file in chain(*inside.values())
        }
        results = {FileFormat.RESULTS}
        of_results = [path for path in paths if {forms[file] for file in inside[path]} == results]
        of_runs = [path for path in paths if path not in of_results]
        readable = [(path, forms[path]) for path in self._readable(_files(of_runs))]
        # Of a folder of runs, files of results are not imported.
        recognised = [(path, form) for path, form in readable if form is not FileFormat.RESULTS]
        run_ids_by_folder: dict[Path, list[str]] = {}
        runs_first = sorted(recognised, key=lambda file: STORING_ORDER.index(file[1]))
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
                self.outcome.compared.append(report)

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
        content = file.content
        if not (stored and isinstance(content, ResultsReport)):
            return
        for path_name, kind in content.scorable.items():
            line = gettext(
                "%(name)s can be scored automatically too: %(command)s",
                name=path_name,
                command=f"relevansi score {kind} {path_name}",
            )
            notice(line)
        candidates = (path.parent / name for path in paths for name in content.collections)
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
        is_csv = isinstance(file.content, RatedFile)
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
            if file.format is FileFormat.RATINGS:
                self.outcome.ratings.append(RatingsReport(refused.name, tuple(refused.problems)))
            elif is_named or not isinstance(refused, UnknownRunFormat):
                self.outcome.problems.extend(refused.problems)
            return ()
        match stored.report:
            case RatingsReport() as report:
                self.outcome.ratings.append(report)
                if report.needs_confirmation and not report.stored:
                    self.outcome.refusals.append(import_report.why_unconfirmed(path, report))
            case RatedImport() as report:
                self.outcome.rated_csvs.append(report)
                if not report.storable:
                    self.outcome.refusals.append(
                        f"{report.name}: {import_report.why_refused(report)}"
                    )
            case ImportedRun() as run:
                self.outcome.runs.append(run)
            case StoredResults() as results:
                self.outcome.runs.extend(results.runs)
                self.outcome.grades.update(results.grades)
                self.outcome.remarks.extend(results.problems)
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
                self.outcome.problems.extend(failure.problems)
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
    name = _name(path) if form is FileFormat.RUN else path.name
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
    if isinstance(file.content, ImportRefused):
        raise file.content
    if refused := file_formats.why_refused(file):
        raise ImportRefused(*refused)
    with database.writing() as session:
        now = options.now()
        study = studies.open_or_make(session, now)
        if file.format in (FileFormat.RUN, FileFormat.RESULTS):
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
