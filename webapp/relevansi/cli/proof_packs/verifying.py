"""``relevansi verify``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import to_builtins

from relevansi.cli.frame import output as progress
from relevansi.cli.frame.options import FILE, formats
from relevansi.cli.frame.output import shown, write, write_json
from relevansi.i18n import gettext, mark, ngettext
from relevansi.importers.proof_packs import pack as proof_pack
from relevansi.services.proof_packs import verification
from relevansi.services.proof_packs.verification import DifferenceKind, PackDifference, Verification

MOST_LINES = 40
"""Differences of one file that are listed for people; the JSON document has all."""


@click.command("verify")
@click.argument("file", metavar="FILE.zip", type=FILE)
@formats("table", "json")
def verify_command(file: Path, file_format: str, output: Path | None) -> None:
    """Recompute everything in a proof pack from the verdicts inside; no database is used.

    Says equal and exits 0, or which files and figures differ and exits 1.

    \b
    JSON: {file, equal, fingerprint, version, created_at, study, rule, runs, files,
      figures, differences: [{kind, file, place: [], stated, computed, source}],
      left_out, texts: {FILE: [lines of a unified diff]}}; kind is one of hash,
      missing, unlisted, unreadable, verdict, figure, cell.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with (
        file.open("rb") as data,
        proof_pack.opened(file.name, data) as pack,
        progress.steps() as tell,
    ):
        found = verification.verify(pack, tell)
    if file_format == "json":
        write_json(to_builtins(found), output)
    else:
        text = "".join(f"{shown(line)}\n" for line in _lines(found))
        write(text.encode("utf-8", "surrogateescape"), output)
    if not found.equal:
        count = len(found.differences) + found.left_out
        raise click.ClickException(
            ngettext(
                "%(file)s: %(n)s difference.", "%(file)s: %(n)s differences.", count, file=file.name
            )
        )


def _lines(found: Verification) -> Iterator[str]:
    yield gettext(
        "%(study)s, %(rule)s; made by Relevansi %(version)s as of %(when)s",
        study=found.study,
        rule=found.rule,
        version=found.version,
        when=found.created_at,
    )
    yield gettext("Fingerprint (SHA-256 of manifest.json): %(hash)s", hash=found.fingerprint)
    if found.equal:
        yield gettext(
            "Equal: %(files)s files with %(figures)s numbers are what the verdicts make them.",
            files=found.files,
            figures=found.figures,
        )
    for file in dict.fromkeys(one.file for one in found.differences):
        yield file
        every = [one for one in found.differences if one.file == file]
        # Headline figures are listed before all others.
        listed = sorted(
            every, key=lambda one: "figures" not in one.place or one.place[-1] != "value"
        )
        yield from (f"  {_told(one)}" for one in listed[:MOST_LINES])
        if len(listed) > MOST_LINES:
            more = len(listed) - MOST_LINES
            yield "  " + gettext("and %(n)s more; --format json lists all of them", n=more)
        yield from (f"    {line}" for line in found.texts.get(file, ()))


_OF_FILES = {
    DifferenceKind.HASH: mark("its SHA-256 is not the one in manifest.json"),
    DifferenceKind.MISSING: mark("is missing"),
    DifferenceKind.UNLISTED: mark("is not in manifest.json"),
}


def _told(one: PackDifference) -> str:
    if one.kind in _OF_FILES:
        return gettext(_OF_FILES[one.kind])
    if one.kind is DifferenceKind.UNREADABLE:
        return gettext("cannot be used: %(why)s", why=one.stated)
    stated, computed = (
        f"{value:.10g}" if isinstance(value, float) else "-" if value is None else value
        for value in (one.stated, one.computed)
    )
    return gettext(
        "%(place)s: %(stated)s; by %(source)s it is %(computed)s",
        place=", ".join(one.place) or "-",
        stated=stated,
        source=one.source,
        computed=computed,
    )
