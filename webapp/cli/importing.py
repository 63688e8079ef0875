"""``relevansi import`` and ``relevansi runs``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from webapp.cli import database, rating_files
from webapp.db.engine import Database
from webapp.i18n import gettext, ngettext
from webapp.importers import offline_ratings, problems
from webapp.metrics.latency import Latency
from webapp.records import Problem, Severity
from webapp.services import imports, runs, studies
from webapp.services.imports import Counts, ImportedRun, ImportReport, Labels


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--method", help="Search method, where the file does not state it.")
@click.option("--llm", help="LLM, where the file does not state it.")
@click.option("--rater", help="Who rated, where ratings from a page do not say it or say it wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def import_command(
    paths: Sequence[Path],
    method: str | None,
    llm: str | None,
    rater: str | None,
    *,
    as_json: bool,
) -> None:
    """Import run files and ratings from pages without a server, recognised by content.

    Of a folder every such file is read, the runs before their ratings.
    """
    labels = Labels(search_method=method, llm=llm)
    imported: list[ImportedRun] = []
    refused: list[Problem] = []
    with database.opened() as opened:
        files = list(_files(paths))
        rated = [path for path in files if offline_ratings.recognises(path.read_bytes())]
        for path in files:
            if path in rated:
                continue
            outcome = import_file(opened, path, labels)
            if isinstance(outcome, ImportedRun):
                imported.append(outcome)
            elif path in paths or not outcome.is_something_else:
                refused.extend(outcome.problems)
        found = [rating_files.bring(opened, path, rater) for path in rated]
    brought = [report for report in found if report is not None]
    if as_json:
        document = {
            "runs": [_run_json(run) for run in imported],
            "ratings": [rating_files.as_json(report) for report in brought],
            "problems": [problems.to_dict(problem) for problem in refused],
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        for run in imported:
            tell(run)
        for report in brought:
            rating_files.tell(report)
    for problem in refused:
        click.echo(f"relevansi: {problems.message(problem)}", err=True)
    if not imported and not refused and not brought:
        raise click.ClickException(gettext("There is no run file in what was given."))
    if refused or not all(report.storable for report in brought):
        raise SystemExit(1)


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def runs_command(*, as_json: bool) -> None:
    """List the runs of the study, the newest first."""
    with database.reading() as (session, study):
        rater = studies.raters(session, study)[0]
        found = runs.overviews(session, rater)
        latencies = {run.id: runs.latency_of(session, run.id) for run in found if as_json}
    if as_json:
        listed = [
            {
                "id": run.id,
                "search_method": run.search_method,
                "llm": run.llm,
                **_counts_json(run.counts),
                "complete": run.standing.totals.n_complete,
                "open_judgments": run.standing.open_judgments,
                "timestamp": run.timestamp,
                "imported_at": run.imported_at.isoformat(),
                "latency_ms": _latency_json(latencies[run.id]),
            }
            for run in found
        ]
        click.echo(json.dumps({"runs": listed}, ensure_ascii=False, indent=1))
        return
    for run in found:
        done, of = run.standing.totals.n_complete, run.standing.totals.n_counted
        click.echo(
            f"{run.id}  {_label(run.search_method)}  {_label(run.llm)}  "
            + gettext("%(done)s of %(of)s questions rated", done=done, of=of)
        )


def _latency_json(latency: Latency | None) -> dict[str, float] | None:
    return asdict(latency) if latency else None


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files among `paths` and the JSON files in the folders among them."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.json"), reverse=True)
        else:
            yield path


def import_file(opened: Database, path: Path, labels: Labels) -> ImportedRun | ImportReport:
    """Import one file in a transaction of its own; return why not, where it cannot be."""
    with opened.writing() as session:
        study = studies.open_or_make(session, database.now())
        name = "/".join(path.absolute().parts[-2:])
        report = imports.examine(session, study, name, path.read_bytes())
        if report.read is None:
            return report
        run = imports.store(session, study, report.read, labels, database.now())
        session.commit()
        return run


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
    labels = f"{_label(run.search_method)}, {_label(run.llm)}"
    click.echo(f"{run.id}  {labels}: {state}, {questions}, {cards}")
    for problem in run.problems:
        mark = "!!" if problem.severity is Severity.ERROR else "! "
        click.echo(f"  {mark} {problems.message(problem)}", err=True)


def _label(text: str | None) -> str:
    return text or gettext("not stated")
