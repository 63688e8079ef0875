"""``relevansi export``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from pathlib import Path

import click
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.cli.exports.figures import RULES, rule_name
from webapp.cli.frame import database
from webapp.cli.frame.commands import AppFactory
from webapp.cli.frame.options import output_option
from webapp.cli.frame.output import naming_full_disk, say, write, write_files
from webapp.db.tables.study import Study
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.i18n import gettext
from webapp.services.exports import exports, trees
from webapp.services.exports.trees import Tree, TreeFile
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule

Writer = Callable[[Session, Study, str | None, Rule], bytes]
"""Makes the file of a run, or of the whole study without one."""


class ExportFormat(Struct, frozen=True):
    """A format by its name, with what makes its files.

    ``opened`` keeps open what several files need. ``why_no_rule`` is a message id where the file
    does not depend on the rule by which several raters' judgments become one. ``takes_all`` says
    that there is one of the whole study, ``private`` that nobody else on the machine may read it.
    ``notice`` is printed for the person who asks for the
    file of a run.
    """

    name: str
    opened: Callable[[AppFactory], AbstractContextManager[Writer]]
    why_no_rule: str = ""
    takes_all: bool = False
    private: bool = False
    notice: Callable[[Session, Study, str | None], str] = lambda *_: ""


@cache
def formats() -> dict[str, ExportFormat]:
    """Return the formats of whole files that features bring, by their names."""
    from webapp.cli.offline import export_format as offline
    from webapp.cli.proof_packs import export_format as proof_packs

    return {each.FORMAT.name: each.FORMAT for each in (proof_packs, offline)}


CSV_FORMATS = {
    "csv": exports.rated_csv,
    "wide-csv": exports.wide_csv,
    "long-csv": exports.long_csv,
}


@click.command("export")
@click.argument("run_id", metavar="[ID]", required=False)
@click.option("--rater", help="Only this rater's judgments.")
@click.option("--rule", type=RULES, help="How several raters' judgments become one.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice([*exports.FORMATS, *formats()]),
    default="csv",
    show_default=True,
)
@click.option(
    "--excel",
    is_flag=True,
    help="CSV for Excel: with a byte order mark, `;` and the decimal sign of the language.",
)
@output_option
@click.pass_obj
def export_command(
    create_app: AppFactory,
    run_id: str | None,
    rater: str | None,
    rule: str | None,
    file_format: str,
    output: Path | None,
    *,
    excel: bool,
) -> None:
    """Write the rated run ID as a file, to the standard output unless -o says where.

    The format html is one file in which the run is rated without a server; `relevansi import`
    takes back what it gives. In a blind study it names neither method nor LLM.

    The format proof-pack is one zip with everything behind the figures, which `relevansi
    verify` recomputes: of the run ID or, without ID, of the whole study. It names the raters.
    """
    brought = formats().get(file_format)
    if run_id is None and not (brought and brought.takes_all):
        raise click.UsageError(gettext("Name a run; only --format proof-pack takes all of them."))
    if brought:
        if excel:
            raise click.UsageError(gettext("--excel goes with the CSV formats."))
        if (rater or rule) and brought.why_no_rule:
            raise click.UsageError(gettext(brought.why_no_rule))
        data = _brought(create_app, brought, run_id, rule_name(rater, rule))
        write(data, output, private=brought.private)
        return
    assert run_id is not None
    with database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule_name(rater, rule))
        if excel:
            if file_format not in CSV_FORMATS:
                raise click.UsageError(gettext("--excel goes with the CSV formats."))
            make = CSV_FORMATS[file_format]
            file = make(session, study, run_id, chosen, style=CsvStyle.EXCEL)
        else:
            file = exports.export(session, study, run_id, chosen, file_format)
    for note in file.notes:
        say(f"relevansi: {note}", err=True)
    write(file.data, output)


def _brought(
    create_app: AppFactory, brought: ExportFormat, run_id: str | None, rule: str | None
) -> bytes:
    """Return the file of a format that a wing brings; print what it has to say."""
    with brought.opened(create_app) as written, database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        data = written(session, study, run_id, chosen)
        notice = brought.notice(session, study, run_id)
    if notice:
        say(f"relevansi: {notice}", err=True)
    return data


MOST_NAMED = 5


@click.command("export-tree")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--rater", help="Only this rater's judgments.")
@click.option("--rule", type=RULES, help="How several raters' judgments become one.")
@click.option("--replace", is_flag=True, help="Write over files in DIR that are different.")
@click.pass_obj
def export_tree_command(
    create_app: AppFactory,
    folder: Path,
    rater: str | None,
    rule: str | None,
    *,
    replace: bool,
) -> None:
    """Write every run into DIR: a folder per search method, reports beside the folders.

    Each run gives test_results, the CSV template, the page to rate on, the full responses
    and, once it is rated, the rated CSV. Files of DIR that are not of this tree stay.
    """
    page = formats().get("html")
    with (
        page.opened(create_app) if page else nullcontext() as to_rate,
        database.reading() as (session, study),
    ):
        chosen = reports.rule_of(session, study, rule_name(rater, rule))
        tree = trees.tree(session, study, chosen, to_rate)
    if not tree.files:
        raise click.ClickException(gettext("There is no run yet; `relevansi import` reads one."))
    different = [file for file in tree.files if _differs(folder, file)]
    if different and not replace:
        raise click.ClickException(_refusal(folder, different))
    written = _write(folder, tree)
    for note in tree.notes:
        say(f"relevansi: {note}", err=True)
    told = gettext(
        "%(folder)s: %(new)s files written, %(replaced)s replaced, %(same)s there already",
        folder=folder,
        new=written - len(different),
        replaced=len(different),
        same=len(tree.files) - written,
    )
    say(told)


def _differs(folder: Path, file: TreeFile) -> bool:
    """Whether the place of a file of the tree holds something else."""
    path = folder / file.path
    if path.is_file():
        return path.read_bytes() != file.data
    return path.exists()


def _refusal(folder: Path, different: list[TreeFile]) -> str:
    named = ", ".join(file.path for file in different[:MOST_NAMED])
    more = len(different) - MOST_NAMED
    listed = f"{named}, {gettext('%(n)s more', n=more)}" if more > 0 else named
    return gettext(
        "%(folder)s holds other files of these names: %(files)s. Nothing was written. Choose "
        "another folder, or say --replace.",
        folder=folder,
        files=listed,
    )


def _write(folder: Path, tree: Tree) -> int:
    """Write what is not there yet, all of it or nothing; return how many files that were."""
    new = {folder / file.path: file.data for file in tree.files if not _is_there(folder, file)}
    parents = {parent for path in new for parent in path.parents}
    made = sorted((parent for parent in parents if not parent.exists()), reverse=True)
    try:
        with naming_full_disk(str(folder)):
            for parent in reversed(made):
                parent.mkdir(exist_ok=True)
            write_files(new)
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise
    return len(new)


def _is_there(folder: Path, file: TreeFile) -> bool:
    path = folder / file.path
    return path.is_file() and path.read_bytes() == file.data
