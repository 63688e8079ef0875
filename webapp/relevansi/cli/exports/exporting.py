"""``relevansi metrics``, ``export``, ``push``, ``export-tree`` and ``check``."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import click
from msgspec.structs import asdict

from relevansi import labels, notation
from relevansi.chatbot.failures import CallFailed
from relevansi.cli.frame import options
from relevansi.cli.frame.commands import AppFactory
from relevansi.cli.frame.options import FILE, WIDTH, Command, Reply, output_option, replies
from relevansi.cli.frame.output import is_standard, notice, printed, say, steps, write, write_files
from relevansi.config import secret
from relevansi.db import soundness
from relevansi.exporters.comparisons.words import positions
from relevansi.exporters.exports import meanings, metrics_tables
from relevansi.exporters.frame.csv_cells import CsvStyle
from relevansi.exporters.frame.tables import Table
from relevansi.exporters.offline import page
from relevansi.i18n import gettext, ngettext
from relevansi.importers.runs import csv_ratings, problems
from relevansi.metrics.judging.figures import RunReport, totals, undefined
from relevansi.metrics.judging.queries import OF_RANKINGS
from relevansi.metrics.judging.registry import label_of
from relevansi.records import Problem
from relevansi.services.exports import exports, pushes, trees
from relevansi.services.exports.trees import OfflinePageRenderer
from relevansi.services.judging import stored_summaries
from relevansi.services.offline.runs import offline_run
from relevansi.services.proof_packs import packs
from relevansi.services.runs import reports
from relevansi.services.study import studies


def by_rule(command: Command) -> Command:
    """Give the command the name of a ``rule``, by options that say whose judgments count."""

    @click.option("--rater", help="Only this rater's judgments.")
    @click.option(
        "--rule",
        type=click.Choice([reports.MAJORITY, reports.ADJUDICATED]),
        help="How several raters' judgments become one.",
    )
    @wraps(command)
    def with_rule(*args: Any, rater: str | None, rule: str | None, **options: Any) -> Any:
        if rater and rule:
            raise click.UsageError(gettext("Say either --rater or --rule."))
        return command(*args, rule=f"rater {rater}" if rater else rule, **options)

    return cast("Command", with_rule)


@click.command("metrics")
@click.option("--run", "run_id", help="Id of a run.")
@click.option(
    "--input", "rated_file", type=FILE, help="A rated CSV, of this app or of the original page."
)
@by_rule
@click.option(
    "--figures",
    metavar="NAMES",
    help="Other figures than the headline of the study, as `nDCG@10,AP,RBP(0.8)`.",
)
@replies("table", "json", "markdown", "csv")
@click.option("--explain", is_flag=True, help="Print what each figure and column means.")
def metrics_command(
    run_id: str | None,
    rated_file: Path | None,
    rule: str | None,
    figures: str | None,
    *,
    reply: Reply,
    explain: bool,
) -> None:
    """Print the figures of a run, or recompute those of a rated CSV.

    Without --run and --input the newest data/evaluation/**/evaluation_rated_*.csv is taken.
    """
    if explain:
        reply.write(meanings.measures_markdown().encode())
        return
    if run_id is None and rated_file is None and not rule:
        rated_file = _newest_rated(Path())
    if (run_id is None) == (rated_file is None):
        raise click.UsageError(gettext("Say either --run or --input."))
    if rated_file is not None and rule:
        raise click.UsageError(gettext("A rated CSV has its judgments merged already."))
    if rated_file is not None and figures:
        raise click.UsageError(gettext("A rated CSV has no grades: --figures needs --run."))
    names = studies.figures_in(figures or "")
    remarks: Sequence[Problem] = ()
    if rated_file is not None:
        rated = csv_ratings.read(rated_file.name, rated_file.read_bytes())
        report, remarks = rated.report, rated.problems
    else:
        assert run_id is not None
        with options.reading() as (session, study):
            chosen = reports.rule_of(session, study, rule)
            report = reports.report_in_words(session, study, run_id, chosen, figures=names)
    for problem in remarks:
        notice(problems.message(problem))
    if remarks and not report.rows:
        raise SystemExit(1)
    if reply.is_json:
        reply.json(_figures_json(report, remarks, from_file=rated_file is not None))
    else:
        reply.write(FORMATS[reply.file_format](report))


def _newest_rated(folder: Path) -> Path | None:
    """Return the newest rated CSV below `folder`, by its name and then its time, and name it."""
    paths = (folder / "data" / "evaluation").rglob("evaluation_rated_*.csv")
    files = [path for path in paths if path.is_file()]
    if not files:
        return None

    def age(file: Path) -> tuple[list[str], float, Path]:
        dates = re.findall(r"\d{4,}", file.stem)
        return dates, file.stat().st_mtime, file

    newest = max(files, key=age)
    notice(gettext("%(file)s is the newest rated CSV here.", file=newest))
    return newest


def _figures_json(
    report: RunReport, remarks: Sequence[Problem], *, from_file: bool
) -> dict[str, object]:
    document: dict[str, object] = {**metrics_tables.metrics_json(report)}
    if from_file:
        document["undefined"] = [
            {"figure": figure, "why": str(why), "query_ids": list(ids)}
            for (figure, why), ids in undefined(report).items()
        ]
    if remarks:
        document["problems"] = [*map(problems.to_dict, remarks)]
    return document


def _figures(report: RunReport) -> Iterator[Table | str]:
    run_totals = totals(report)
    yield metrics_tables.figure_table(report, run_totals)
    yield from metrics_tables.sentences(report, run_totals)
    for (name, why), ids in undefined(report).items():
        yield gettext(
            "%(figure)s has no value for %(questions)s: %(why)s",
            figure=label_of(name, report.scale),
            questions=positions(ids),
            why=gettext(OF_RANKINGS[why]),
        )


FORMATS: Mapping[str, Callable[[RunReport], bytes]] = {
    "table": lambda report: printed(_figures(report), width=WIDTH),
    "markdown": lambda report: metrics_tables.metrics_markdown(report).encode(),
    "csv": metrics_tables.metrics_csv,
}
PACK, PAGE = "proof-pack", "html"
OPTIONS: Mapping[str, Sequence[str]] = {
    "style": ("csv", "wide-csv", "long-csv"),
    "unjudged": ("qrels",),
    "texts": ("json",),
    "index": ("rank-eval",),
}
"""The options of some formats alone; --excel is the style."""


@click.command("export")
@click.argument("run_id", metavar="[ID]", required=False)
@by_rule
@click.option(
    "--format", "file_format", type=click.Choice([*exports.FORMATS, PACK, PAGE]), default="csv"
)
@click.option(
    "--excel",
    is_flag=True,
    help="CSV for Excel: with a byte order mark, `;` and the decimal sign of the language.",
)
@click.option("--unjudged", is_flag=True, help="qrels: -1 for what nobody could judge, for infAP.")
@click.option("--texts", is_flag=True, help="json: the texts of documents too.")
@click.option("--index", help="rank-eval: the index that holds the documents.")
@output_option
@click.pass_obj
def export_command(
    create_app: AppFactory,
    /,
    run_id: str | None,
    rule: str | None,
    file_format: str,
    output: Path | None,
    *,
    excel: bool,
    **format_options: Any,
) -> None:
    """Write the rated run ID as a file, to the standard output unless -o says where.

    The format html is one file in which the run is rated without a server; `relevansi import`
    takes back what it gives. In a blind study it names neither method nor LLM.

    The format proof-pack is one zip with everything behind the figures, which `relevansi
    verify` recomputes: of the run ID or, without ID, of the whole study. It names the raters.

    For studies of documents: beir is a zip with a card of the data set, or a folder where -o names
    no .zip; srw, phoenix, rank-eval, quepid and quepid-book (a column for each rater) go back to
    the tools of these names.
    """
    if run_id is None and file_format != PACK:
        raise click.UsageError(gettext("Name a run; only --format proof-pack takes all of them."))
    style = CsvStyle.EXCEL if excel else None
    format_options = _options_of(file_format, {"style": style, **format_options})
    if file_format == PAGE and rule:
        refusal = gettext(
            "html is a file to rate in: it holds no verdicts, so --rater and --rule cannot be used."
        )
        raise click.UsageError(refusal)
    notes: Sequence[str] = ()
    with options.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        if file_format == PACK:
            with steps() as on_progress:
                data = packs.pack(session, study, run_id, chosen, on_progress=on_progress).data
        elif file_format == PAGE:
            with page_maker(create_app) as printer:
                data = printer(session, study, run_id or "")
            if studies.is_blind(session, study):
                notes = [gettext("The study is blind: the file names neither method, LLM nor run.")]
        else:
            file = exports.export(
                session, study, run_id or "", chosen, file_format, **format_options
            )
            data, notes = file.data, file.notes
            if labels.scale().top > 1:
                notes = [labels.rule(chosen.name), *notes]
    for note in notes:
        notice(note)
    # BEIR's own tools read a folder; a zip is for passing on.
    is_folder = output and not is_standard(output) and output.suffix != ".zip"
    if file_format == "beir" and output and is_folder:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            _write({output / name: packed.read(name) for name in packed.namelist()})
    else:
        write(data, output, private=file_format == PACK)


def _options_of(file_format: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of this format that were used; those of other formats are refused."""
    used = {name: value for name, value in options.items() if value}
    for name in used:
        if file_format in OPTIONS[name]:
            continue
        if name == "style":
            raise click.UsageError(gettext("--excel goes with the CSV formats."))
        formats = ", ".join(OPTIONS[name])
        refusal = gettext("--%(name)s goes with --format %(formats)s.", name=name, formats=formats)
        raise click.UsageError(refusal)
    return used


@contextmanager
def page_maker(create_app: AppFactory) -> Iterator[OfflinePageRenderer]:
    """Yield what makes the file to rate a run in, from the templates of an application."""
    app = create_app()
    try:
        yield lambda *of_run: page.page(app.jinja_env, offline_run(*of_run))
    finally:
        app.extensions["database"].close()


MOST_LISTED = 5
"""So many items or files are listed; further ones are counted."""
TOKEN = "RELEVANSI_PUSH_TOKEN"  # noqa: S105 - the name of a variable


@click.command("push")
@click.option("--to", type=click.Choice([*pushes.FORMS]), required=True)
@click.option("--endpoint", required=True, metavar="URL", help="Where its server is.")
@click.option("--run", "run_id", required=True, metavar="ID")
@click.option(
    "--rule", default=reports.ADJUDICATED, help="How several raters' judgments become one."
)
@replies("table", "json")
def push_command(to: str, endpoint: str, run_id: str, rule: str, reply: Reply) -> None:
    """Push the judgments of a run to the tool that its results came from.

    To phoenix they go as annotations of the documents of its spans, to opensearch as a list of
    judgments of its Search Relevance Workbench. A token goes along if RELEVANSI_PUSH_TOKEN has
    one. What got no answer is sent again; what is pushed twice changes nothing: annotations are
    replaced by equal ones, and a list that is there is not imported again. Says what was accepted
    and what refused, with exit code 1.
    """
    with options.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        file = exports.export(session, study, run_id, chosen, pushes.FORMS[to])
    for note in file.notes:
        notice(note)
    try:
        result = pushes.push(file.data, to, endpoint, token=secret(TOKEN))
    except CallFailed as failed:
        raise click.ClickException(str(failed)) from None
    if reply.is_json:
        reply.json({"run": run_id, "rule": chosen.name, **asdict(result)})
    else:
        counts = gettext(
            "%(address)s: %(accepted)s accepted, %(refused)s refused. Rule: %(rule)s.",
            address=result.address,
            accepted=notation.number(result.n_accepted),
            refused=notation.number(sum(len(refusal.items) for refusal in result.refused)),
            rule=labels.rule(chosen.name),
        )
        repeated = gettext("This list was there already.") if result.was_there else ""
        say(" ".join(filter(None, [counts, repeated, result.name])))
    for refusal in result.refused:
        items = notation.listed(refusal.items, MOST_LISTED)
        why = f"{refusal.status}: {refusal.detail}" if refusal.status else refusal.detail
        notice(f"{gettext('refused')}: {items} ({why})")
    if result.refused:
        raise SystemExit(1)


@click.command("export-tree")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@by_rule
@click.option("--replace", is_flag=True, help="Write over files in DIR that are different.")
@click.pass_obj
def export_tree_command(
    create_app: AppFactory, folder: Path, rule: str | None, *, replace: bool
) -> None:
    """Write every run into DIR: a folder per search method, reports beside the folders.

    Each run gives test_results, the CSV template, the page to rate on, the full responses
    and, once it is rated, the rated CSV. Files of DIR that are not of this tree stay.
    """
    with page_maker(create_app) as to_rate, options.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        files, notes = trees.tree(session, study, chosen, to_rate)
    if not files:
        raise click.ClickException(gettext("There is no run yet; `relevansi import` reads one."))
    new: dict[Path, bytes] = {}
    different = []
    for name, data in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            new[path] = data
            if path.exists():
                different.append(name)
    if different and not replace:
        refusal = gettext(
            "%(folder)s holds other files of these names: %(files)s. Nothing was written. "
            "Choose another folder, or say --replace.",
            folder=folder,
            files=notation.listed(different, MOST_LISTED),
        )
        raise click.ClickException(refusal)
    _write(new)
    for note in notes:
        notice(note)
    counts = gettext(
        "%(folder)s: %(new)s files written, %(replaced)s replaced, %(same)s there already",
        folder=folder,
        new=len(new) - len(different),
        replaced=len(different),
        same=len(files) - len(new),
    )
    say(counts)


def _write(files: Mapping[Path, bytes]) -> None:
    """Write files with the folders they need; where one cannot be written, none and no folder."""
    parents = {parent for path in files for parent in path.parents}
    new_folders = sorted((parent for parent in parents if not parent.exists()), reverse=True)
    try:
        for parent in reversed(new_folders):
            parent.mkdir(exist_ok=True)
        write_files({path: [data] for path, data in files.items()})
    except BaseException:
        for parent in new_folders:
            with suppress(OSError):
                parent.rmdir()
        raise


@click.command("check")
def check_command() -> None:
    """Check that the database is whole, recompute every stored figure from the judgments.

    Says equal or what is damaged or differs.
    """
    with options.opened() as database:
        damaged = soundness.faults(database)
        for fault in damaged:
            say(fault)
        if damaged:
            refusal = gettext(
                "The database is damaged (%(name)s). Restore the latest backup: "
                "relevansi restore FILE --replace",
                name=database.description,
            )
            raise click.ClickException(refusal)
        with database.reading() as session:
            figures = stored_summaries.check(session)
    for rater, run_id, query_id, column, stored, computed in figures:
        say(f"{rater}  {run_id}/{query_id}  {column}: {stored} != {computed}")
    if figures:
        differ = ngettext("%(n)s figure differs.", "%(n)s figures differ.", len(figures))
        raise click.ClickException(differ)
    say(gettext("Equal: every stored figure is what the judgments make it."))
