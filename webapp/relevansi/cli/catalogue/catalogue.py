"""``relevansi catalogue``: what could have been returned, taken in, counted and searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from msgspec.structs import asdict

from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import notice, say, steps
from relevansi.cli.runs.importing import without_collecting
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import text_table
from relevansi.i18n import gettext, ngettext
from relevansi.importers.runs import problems
from relevansi.services.catalogue import imports, search
from relevansi.services.catalogue.filters import Filters
from relevansi.services.catalogue.imports import Mode


@click.group("catalogue")
def catalogue_command() -> None:
    """Keep what could have been returned, so that raters can look it up."""


@catalogue_command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--replace", "mode", flag_value="replace", help="Remove what the files have not.")
@click.option("--remove", "mode", flag_value="remove", help="Remove what the files have.")
@replies()
def import_command(files: Sequence[Path], mode: str | None, *, reply: Reply) -> None:
    """Take listings or documents into the catalogue: tables, JSON, JSON Lines, BEIR collections.

    Items are added, or brought up to date by their identity. Those that runs returned can be
    looked up in any case.

    \b
    JSON: {name, kind, total, removed, added, changed, unchanged, repeated,
           problems: [{severity, file, query_id, line, code, message}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.opened() as database, steps() as on_progress, without_collecting():
        outcome = imports.import_files(
            database,
            files,
            Mode(mode or "add"),
            options.now(),
            is_stream=True,
            on_progress=on_progress,
        )
    if reply.is_json:
        remarks = [problems.to_dict(problem) for problem in outcome.problems]
        reply.json(asdict(outcome) | {"problems": remarks})
        return
    line = gettext(
        "%(added)s added, %(changed)s changed, %(unchanged)s unchanged, %(removed)s removed. "
        "The catalogue has %(total)s items.",
        **fields(outcome, "added", "changed", "unchanged", "removed", "total"),
    )
    say(line)
    if outcome.repeated:
        say(gettext("Listed more than once, the last one counts: %(n)s.", n=outcome.repeated))
    for remark in problems.remarks(outcome.problems):
        notice(remark.text)


@catalogue_command.command("search")
@click.argument("words", nargs=-1)
@click.option("--type", help="The kind of property: house, apartment, shophouse, land, ...")
@click.option("--offer", type=click.Choice(["sale", "rent"]))
@click.option("--place", help="Words that a listing has, or several places: 'cemara, johor'.")
@click.option("--price-from", type=click.IntRange(0), metavar="RUPIAH")
@click.option("--price-to", type=click.IntRange(0), metavar="RUPIAH")
@click.option("--bedrooms", type=click.IntRange(0))
@click.option("--most", type=click.IntRange(1, search.MAX_PAGE), default=20, help="So many items.")
@replies()
def search_command(
    words: Sequence[str], most: int, *, reply: Reply, **filters: int | str | None
) -> None:
    """Look up the items that have all WORDS, the last one also as a beginning.

    \b
    JSON: {count, total, is_imported, items: [{id, identity, ...fields of the item}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.writing() as (session, study):
        chosen = msgspec.convert(filters, Filters)
        matches = search.search(session, study, " ".join(words), chosen, most=most)
    if reply.is_json:
        reply.json(search.as_json(matches))
        return
    n = ngettext("%(n)s item fits", "%(n)s items fit", matches.count)
    say(gettext("%(items)s, of %(total)s.", items=n, total=matches.total))
    rows = [(match.identity, match.card.name) for match in matches.items]
    if rows:
        reply.table(text_table("", ("ID", gettext("Item")), rows))
