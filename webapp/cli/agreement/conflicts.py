"""``relevansi conflicts``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from webapp.cli.frame.options import formats
from webapp.cli.frame.output import TerminalTable, printed, say, write, write_json
from webapp.i18n import gettext, ngettext
from webapp.importers.runs import problems
from webapp.metrics.agreement.report import ConflictReport
from webapp.services.agreement import agreement
from webapp.services.agreement.agreement import MANUAL_FILE, RUN_FILE, HandJudgedRun, JudgedRun

WIDTH = 100


@click.command("conflicts")
@click.argument(
    "folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@formats("table", "json")
def conflicts_command(folders: Sequence[Path], file_format: str, output: Path | None) -> None:
    """Show where verdicts by hand on the same property differ from run to run.

    Each DIR holds a run's results.json (V2) and its manual_input.json.
    """
    found = agreement.compare(judged_runs(folders))
    for problem in found.problems:
        _warn(problems.message(problem))
    report = found.report
    for both in report.self_contradictions:
        _warn(
            gettext(
                "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
                "it is left out of this comparison.",
                run=both.run,
                query=both.query_id,
                property=both.property_id,
            )
        )
    if file_format == "json":
        write_json(_document(report), output)
        return
    write(printed(_parts(report), width=WIDTH), output)


def judged_runs(folders: Sequence[Path]) -> list[JudgedRun]:
    """The runs in `folders`, each named after its folder, by the shortest distinct names."""
    names = agreement.run_names([folder.resolve().parts for folder in folders])
    pairs = [
        HandJudgedRun(name, _bytes(folder, RUN_FILE), _bytes(folder, MANUAL_FILE))
        for folder, name in zip(folders, names, strict=True)
    ]
    return agreement.judged_runs(pairs)


def _bytes(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as failure:
        raise click.ClickException(
            gettext(
                "%(folder)s is no folder of a judged run: %(name)s cannot be read (%(why)s). "
                "Name folders that hold results.json and manual_input.json.",
                folder=folder,
                name=name,
                why=failure.strerror,
            )
        ) from failure


def _warn(message: str) -> None:
    say(f"relevansi: {message}", err=True)


def _document(report: ConflictReport) -> dict[str, Any]:
    return {
        "pairs_judged_more_than_once": report.pairs_judged_more_than_once,
        "contradictions": [
            {
                "query_id": found.query_id,
                "property": found.property_id,
                "verdicts": {run: _word(passed) for run, passed in found.verdicts.items()},
            }
            for found in report.contradictions
        ],
        "favours": dict(report.favours),
        "sign_tests": [
            {
                "runs": list(test.runs),
                "favours_a": test.favours_a,
                "favours_b": test.favours_b,
                "p": test.p,
            }
            for test in report.sign_tests
        ],
    }


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"


def _parts(report: ConflictReport) -> Iterator[TerminalTable | str]:
    """Yield the contradictions, the verdicts they favour and the sign tests."""
    shared, found = report.pairs_judged_more_than_once, len(report.contradictions)
    judged = ngettext(
        "%(n)s property of a question was judged in more than one run.",
        "%(n)s properties of a question were judged in more than one run.",
        shared,
    )
    differing = ngettext(
        "On %(n)s of them the verdicts differ.",
        "On %(n)s of them the verdicts differ.",
        found,
    )
    yield f"{judged} {differing}"
    if found:
        yield _contradictions(report)
    yield _leaning(report)


def _contradictions(report: ConflictReport) -> TerminalTable:
    words = {True: gettext("Relevant"), False: gettext("Not relevant"), None: "-"}
    table = TerminalTable(gettext("Contradictions"))
    table.left(gettext("Question"), gettext("Property"), *report.favours)
    for found in report.contradictions:
        verdicts = (words[found.verdicts.get(run)] for run in report.favours)
        table.row(str(found.query_id), found.property_id, *verdicts)
    favours = (str(count) for count in report.favours.values())
    table.section()
    table.row("", gettext("Verdicts in favour of the run"), *favours)
    return table


def _leaning(report: ConflictReport) -> TerminalTable:
    table = TerminalTable(gettext("Sign test, exact and two-sided"))
    table.left("A", "B")
    table.right(gettext("Favour A"), gettext("Favour B"), "p")
    for test in report.sign_tests:
        table.row(*test.runs, str(test.favours_a), str(test.favours_b), f"{test.p:.4g}")
    return table
