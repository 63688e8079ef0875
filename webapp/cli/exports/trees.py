"""``relevansi export-tree``: the study as the folders of the original evaluation scripts."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path

import click

from webapp.cli.exports.figures import RULES, rule_name
from webapp.cli.exports.formats import formats
from webapp.cli.frame import database
from webapp.cli.frame.commands import AppFactory
from webapp.cli.frame.output import naming_full_disk, say, write_files
from webapp.i18n import gettext
from webapp.services.exports import trees
from webapp.services.exports.trees import Tree, TreeFile
from webapp.services.runs import reports

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
