"""``relevansi verify``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from webapp.cli.frame import output as progress
from webapp.cli.frame.options import FILE, formats
from webapp.cli.frame.output import shown, write, write_json
from webapp.i18n import gettext, ngettext
from webapp.importers.proof_packs import pack as proof_pack
from webapp.services.proof_packs import verification
from webapp.services.proof_packs.differences import DifferenceKind, PackDifference, Value
from webapp.services.proof_packs.verification import Verification

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
    found = _verified(file)
    if file_format == "json":
        write_json(_document(found), output)
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


def _verified(file: Path) -> Verification:
    with (
        file.open("rb") as opened,
        proof_pack.opened(file.name, opened) as pack,
        progress.steps() as tell,
    ):
        return verification.verify(pack, tell)


def _document(found: Verification) -> dict[str, Any]:
    return {
        "file": found.name,
        "equal": found.equal,
        "fingerprint": found.fingerprint,
        "version": found.version,
        "created_at": found.created_at.isoformat(),
        "study": found.study,
        "rule": found.rule,
        "runs": list(found.runs),
        "files": found.files,
        "figures": found.figures,
        "differences": [
            {
                "kind": str(one.kind),
                "file": one.file,
                "place": list(one.place),
                "stated": one.stated,
                "computed": one.computed,
                "source": one.source,
            }
            for one in found.differences
        ],
        "left_out": found.left_out,
        "texts": {file: list(lines) for file, lines in found.texts.items()},
    }


def _lines(found: Verification) -> Iterator[str]:
    """Yield what a person reads: what the pack is, then equal or what differs, file by file."""
    made = gettext(
        "%(study)s, %(rule)s; made by Relevansi %(version)s as of %(when)s",
        study=found.study,
        rule=found.rule,
        version=found.version,
        when=found.created_at.isoformat(),
    )
    yield made
    yield gettext("Fingerprint (SHA-256 of manifest.json): %(hash)s", hash=found.fingerprint)
    if found.equal:
        yield gettext(
            "Equal: %(files)s files with %(figures)s numbers are what the verdicts make them.",
            files=found.files,
            figures=found.figures,
        )
    for file, differences in groupby(_sorted(found.differences), key=lambda one: one.file):
        listed = list(differences)
        yield file
        yield from (f"  {_told(one)}" for one in listed[:MOST_LINES])
        if len(listed) > MOST_LINES:
            more = len(listed) - MOST_LINES
            yield "  " + gettext("and %(n)s more; --format json lists all of them", n=more)
        yield from (f"    {line}" for line in found.texts.get(file, ()))


def _sorted(differences: Sequence[PackDifference]) -> list[PackDifference]:
    """The differences file by file as they were found, headline figures before all others."""
    files = list(dict.fromkeys(one.file for one in differences))
    places = {file: number for number, file in enumerate(files)}
    return sorted(differences, key=lambda one: (places[one.file], not _is_headline(one)))


def _is_headline(difference: PackDifference) -> bool:
    place = difference.place
    return difference.kind is not DifferenceKind.FIGURE or (
        "figures" in place and place[-1:] == ("value",)
    )


def _told(one: PackDifference) -> str:
    place = ", ".join(one.place)
    if one.kind is DifferenceKind.HASH:
        return gettext("its SHA-256 is not the one in manifest.json")
    if one.kind is DifferenceKind.MISSING:
        return gettext("is missing")
    if one.kind is DifferenceKind.UNLISTED:
        return gettext("is not in manifest.json")
    if one.kind is DifferenceKind.UNREADABLE:
        return gettext("cannot be used: %(why)s", why=place or one.stated)
    if not one.source:
        return gettext("%(place)s: it occurs there %(n)s times", place=place, n=one.stated)
    return gettext(
        "%(place)s: %(stated)s; by %(source)s it is %(computed)s",
        place=place or "-",
        stated=_value(one.stated),
        source=one.source,
        computed=_value(one.computed),
    )


def _value(value: Value) -> str:
    """`value` as it is printed: ten digits of a number, ``-`` for none."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return "-" if value is None else str(value)
