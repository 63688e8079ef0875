"""``relevansi verify``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from relevansi.cli.frame.options import FILE, Reply, replies
from relevansi.cli.frame.output import one_line, steps
from relevansi.i18n import gettext, mark, ngettext
from relevansi.importers.proof_packs import pack as proof_pack
from relevansi.services.proof_packs import verification
from relevansi.services.proof_packs.verification import DifferenceKind, PackDifference, Verification

MOST_LINES = 40
"""Differences of one file that are listed for people; the JSON document has all."""


@click.command("verify")
@click.argument("file", metavar="FILE.zip", type=FILE)
@replies("table", "json")
def verify_command(file: Path, reply: Reply) -> None:
    """Recompute everything in a proof pack from the verdicts inside; no database is used.

    Says equal and exits 0, or which files and figures differ and exits 1.

    \b
    JSON: {file, equal, fingerprint, version, created_at, study, rule, runs, files,
      figures, differences: [{kind, file, place: [], stated, computed, source}],
      left_out}; kind is one of hash, missing, unlisted, unreadable, figure, cell.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with (
        file.open("rb") as data,
        proof_pack.opened(file.name, data) as pack,
        steps() as on_progress,
    ):
        report = verification.verify(pack, on_progress)
    if reply.is_json:
        reply.json(report)
    else:
        text = "".join(f"{one_line(line)}\n" for line in _lines(report))
        reply.write(text.encode("utf-8", "surrogateescape"))
    if not report.equal:
        count = len(report.differences) + report.left_out
        refusal = ngettext(
            "%(file)s: %(n)s difference.", "%(file)s: %(n)s differences.", count, file=file.name
        )
        raise click.ClickException(refusal)


def _lines(report: Verification) -> Iterator[str]:
    """Yield what a pack is of, then that it is equal or the differences of each file."""
    yield gettext(
        "%(study)s, %(rule)s; made by Relevansi %(version)s as of %(when)s",
        study=report.study,
        rule=report.rule,
        version=report.version,
        when=report.created_at,
    )
    yield gettext("Fingerprint (SHA-256 of manifest.json): %(hash)s", hash=report.fingerprint)
    if report.equal:
        yield gettext(
            "Equal: %(files)s files with %(figures)s numbers are what the verdicts make them.",
            files=report.files,
            figures=report.figures,
        )
    for file in dict.fromkeys(difference.file for difference in report.differences):
        yield file
        # Headline figures are listed before all others.
        differences = sorted(
            (difference for difference in report.differences if difference.file == file),
            key=lambda each: "figures" not in each.place or each.place[-1] != "value",
        )
        yield from (f"  {_in_words(difference)}" for difference in differences[:MOST_LINES])
        if len(differences) > MOST_LINES:
            more = len(differences) - MOST_LINES
            yield "  " + gettext("and %(n)s more; --format json lists all of them", n=more)


_OF_FILES = {
    DifferenceKind.HASH: mark("its SHA-256 is not the one in manifest.json"),
    DifferenceKind.MISSING: mark("is missing"),
    DifferenceKind.UNLISTED: mark("is not in manifest.json"),
}


def _in_words(difference: PackDifference) -> str:
    if difference.kind in _OF_FILES:
        return gettext(_OF_FILES[difference.kind])
    if difference.kind is DifferenceKind.UNREADABLE:
        return gettext("cannot be used: %(why)s", why=difference.packed)
    return gettext(
        "%(place)s: %(stated)s; by %(source)s it is %(computed)s",
        place=", ".join(difference.place) or "-",
        stated=_value(difference.packed),
        source=difference.source,
        computed=_value(difference.computed),
    )


def _value(value: object) -> object:
    if value is None:
        return "-"
    return f"{value:.10g}" if isinstance(value, float) else value
