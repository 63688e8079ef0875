"""``relevansi gate``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from msgspec import DecodeError, Struct, json, to_builtins

from webapp import labels, notation
from webapp.chatbot import client
from webapp.chatbot.answers import detail
from webapp.chatbot.failures import CallFailed
from webapp.cli.frame import options
from webapp.cli.frame.options import formats
from webapp.cli.frame.output import document_text, shown, write, write_json
from webapp.cli.runs.importing import reading_options, roles
from webapp.exporters.comparisons import words
from webapp.exporters.frame.csv_cells import rounded
from webapp.exporters.frame.tables import (
    Column,
    Document,
    Section,
    Table,
    markdown,
    word,
)
from webapp.i18n import gettext, mark
from webapp.importers.results.formats import Choices
from webapp.services.comparisons import gate
from webapp.services.comparisons.gate import GateReport, GateWanted, Outcome
from webapp.services.study import studies

ADDRESS = "/api/v1/gates"
TOKEN = "RELEVANSI_TOKEN"  # noqa: S105 - the name of a variable
WIDTH = 120
MOST_LISTED = 50
"""So many results to judge are listed for people; JSON has all."""

OUTCOMES = {
    Outcome.PASSED: mark("Passed: every floor is reached, and nothing says that the run is worse"),
    Outcome.OPEN: mark("Too little is judged to say"),
    Outcome.FAILED: mark("Failed: a floor is missed, or the run is worse than the baseline"),
}
WORDS = {
    Outcome.PASSED: (mark("reached"), mark("not worse")),
    Outcome.OPEN: (mark("too little judged"), mark("too little judged")),
    Outcome.FAILED: (mark("missed"), mark("worse")),
}
"""What is said of a floor, and of a test."""


@click.command("gate")
@click.argument("paths", metavar="RUN-FILE...", nargs=-1, required=True, type=options.FILE)
@click.option("--baseline", required=True, metavar="RUN", help="The id of the run to compare with.")
@click.option(
    "--floor",
    "floors",
    metavar="FIGURE=VALUE",
    multiple=True,
    help="The least that a figure may be, as nDCG@10=0.6.",
)
@click.option("--ask", is_flag=True, help="Keep the run, so that raters judge what is open in it.")
@click.option("--method", default="", help="Search method, as a label of the run.")
@click.option("--llm", default="", help="LLM, as a label of the run.")
@reading_options
@click.option("--rule", help='"majority", "adjudicated" or "rater NAME".')
@formats("table", "json", "markdown")
@click.option(
    "--url",
    envvar="RELEVANSI_URL",
    help="Ask the server there, with the token in RELEVANSI_TOKEN. [env: RELEVANSI_URL]",
)
def gate_command(
    paths: Sequence[Path],
    file_format: str,
    output: Path | None,
    *,
    url: str | None,
    columns: str | None,
    depth: int,
    split: str | None,
    **said: Any,
) -> None:
    """Hold a new run against floors and against an earlier run, for the checks of a change.

    The run of the files meets every judgment of the study, and nothing of it is stored, unless
    --ask keeps it for raters. Its exit code says what came of it:

    \b
    0  Every floor is reached, and the run is not worse.
    1  A floor is missed even if all that is open were judged best, or the
       paired test of `relevansi compare` says that the run is worse: p < 0.05
       after Holm's correction over the figures tested, which are those that
       the study shows first and those with a floor.
    3  Too little is judged to say; what is not judged is listed.

    1 is also that of every failure, which has one line on the standard error.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.naming("--floor"):
        floors = gate.floors_in(said["floors"])
    wanted = GateWanted(**{**said, "floors": floors})
    choices = Choices(roles(columns), depth, split)
    given = [(path.name, path.read_bytes()) for path in paths]
    report = _of_server(url, given, wanted, choices) if url else _gated(given, wanted, choices)
    if file_format == "json":
        write_json(rounded(to_builtins(report)), output)
    else:
        found = _document(report)
        head = f"{shown(found.title)}.\n{shown(found.subtitle)}\n".encode()
        text = head + document_text(found, width=WIDTH)
        write(text if file_format == "table" else markdown(found), output)
    raise SystemExit(report.exit_code)


def _gated(given: Sequence[tuple[str, bytes]], wanted: GateWanted, choices: Choices) -> GateReport:
    with options.reading() as (_, study):
        files = gate.read(study, given, choices)
    with options.opened() as database, database.writing() as session:
        study = studies.open_or_make(session, options.now())
        report = gate.gate(session, study, files, wanted, options.now())
        if wanted.ask:
            session.commit()
    return report


def _of_server(
    url: str, given: Sequence[tuple[str, bytes]], wanted: GateWanted, choices: Choices
) -> GateReport:
    """Return what the server at `url` says of the same; a ``ClickException`` says why not."""
    fields = {
        "baseline": wanted.baseline,
        "floor": [f"{figure}={value!r}" for figure, value in wanted.floors.items()],
        "ask": "1" if wanted.ask else "",
        "method": wanted.method,
        "llm": wanted.llm,
        "columns": json.encode(choices.columns).decode() if choices.columns else "",
        "depth": str(choices.depth),
        "split": choices.split or "",
        "rule": wanted.rule or "",
    }
    try:
        answer = client.request(
            "POST",
            client.full_address(url, ADDRESS),
            token=os.environ.get(TOKEN, ""),
            data={name: value for name, value in fields.items() if value},
            files=[("files", file) for file in given],
        )
        if answer.is_success:
            return json.decode(answer.content, type=GateReport)
    except CallFailed as failed:
        raise click.ClickException(str(failed)) from None
    except DecodeError:
        raise click.ClickException(
            gettext("%(url)s is not the address of a Relevansi with gates.", url=url)
        ) from None
    said = detail(answer.content)
    with suppress(DecodeError):
        problem = json.decode(answer.content, type=_Problem)
        said = f"{problem.title}. {problem.detail}"
    if answer.status_code in {401, 403}:
        advice = gettext("Set %(name)s to a token of the study's owner.", name=TOKEN)
        said = f"{said} {advice}"
    refused = gettext("The server refused (%(status)s):", status=answer.status_code)
    raise click.ClickException(f"{refused} {said}")


class _Problem(Struct):
    title: str
    detail: str


def _document(report: GateReport) -> Document:
    said = gettext(
        "%(run)s against %(baseline)s. Study: %(study)s. Rule: %(rule)s.",
        run=report.name,
        baseline=report.baseline_name,
        study=report.study,
        rule=labels.rule(report.rule, report.merging),
    )
    tables = [_figures(report), _tests(report), _unjudged(report)]
    full = tuple(table for table in tables if table.rows)
    section = Section("gate", gettext("Run"), tuple(_sentences(report)), full)
    return Document(gettext(OUTCOMES[report.outcome]), said, (section,))


def _sentences(report: GateReport) -> Iterator[str]:
    if report.run is None:
        yield gettext("Nothing of this run is stored; --ask keeps it, so that raters judge it.")
    elif report.already_imported:
        yield gettext("The study has this run already: %(run)s.", run=report.run)
    else:
        yield gettext("The run is stored: %(run)s.", run=report.run)
    if report.turns_blind:
        yield gettext("From now on the study is rated blind: two runs have the same questions.")
    if report.missing:
        yield gettext(
            "The run lacks these questions of the baseline, which are in no figure and no test: "
            "%(questions)s.",
            questions=", ".join(report.missing),
        )
    if n := report.n_grades_ignored:
        yield gettext("Grades in the files, left out as a run does not judge itself: %(n)s.", n=n)
    if n := report.n_below_pool:
        yield gettext("Results below the depth to which lists are judged, left open: %(n)s.", n=n)


def _figures(report: GateReport) -> Table:
    numbers = (gettext("Value so far"), gettext("At least"), gettext("At most"))
    others = (gettext("95% interval"), "n", gettext("Judged"), gettext("Baseline"))
    rows = []
    for one in report.figures:
        unit, floor = words.unit_of(one.figure), notation.UNDEFINED
        if one.floor is not None and one.floor_outcome is not None:
            reached = gettext(WORDS[one.floor_outcome][0])
            floor = f"{notation.four(one.floor, unit)} ({reached})"
        so_far = (notation.four(value, unit) for value in (one.value, one.lower, one.upper))
        interval = notation.interval(one.interval.lower, one.interval.upper, unit)
        shares = notation.four(one.judged), notation.four(one.baseline, unit)
        name = words.figure_name(one.figure)
        rows.append((name, *so_far, interval, notation.number(one.n), *shares, floor))
    headings = (gettext("Figure"), *numbers, *others, gettext("Floor"))
    note = gettext(
        "At least and at most: once all is judged. Judged: the share of what a figure without "
        "these bounds looks at that is judged."
    )
    return _table("figures", gettext("Figures of the run"), headings, rows, note)


def _tests(report: GateReport) -> Table:
    difference = gettext("Difference, %(share)s interval", share=notation.percent(0.95))
    numbers = (difference, "n", gettext("Wins/ties/losses"), gettext("Test"), "p")
    rows = []
    for one, test in ((one, one.test) for one in report.figures):
        if test is None:
            continue
        unit, interval = words.unit_of(one.figure), test.interval
        bounds = notation.interval(interval.lower, interval.upper, unit, signed=True)
        rows.append(
            (
                words.figure_name(one.figure),
                f"{notation.difference(test.mean, unit)} {bounds}",
                notation.number(test.n),
                f"{test.wins}/{test.ties}/{test.losses}",
                words.name_of_test(test.test, exact=test.exact),
                notation.p_value(test.p),
                notation.p_value(test.p_holm),
                gettext(WORDS[test.outcome][1]),
            )
        )
    headings = (gettext("Figure"), *numbers, gettext("p after Holm"), gettext("Outcome"))
    note = gettext(
        "Worse: the difference is below 0 and its two-sided p, after Holm's correction over the "
        "figures tested, below %(alpha)s.",
        alpha=notation.decimals(report.alpha, 2),
    )
    title = gettext("Differences by question, the run minus the baseline")
    return _table("tests", title, headings, rows, note)


def _unjudged(report: GateReport) -> Table:
    headings = (gettext("Question"), "id", gettext("Rank"), gettext("Item"), gettext("Title"))
    rows = [
        (
            notation.number(one.query_id),
            one.external_id or notation.UNDEFINED,
            notation.UNDEFINED if one.rank is None else notation.number(one.rank),
            gettext("empty list") if one.rank is None else one.item,
            one.title,
        )
        for one in report.unjudged
    ]
    n = len(rows) - MOST_LISTED
    more = [gettext("%(n)s more; --format json lists all.", n=n)] if n > 0 else []
    title = gettext("Results without a verdict")
    return _table("unjudged", title, headings, rows[:MOST_LISTED], *more)


def _table(
    name: str, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *notes: str
) -> Table:
    cells = tuple(tuple(map(word, row)) for row in rows)
    return Table(name, title, tuple(map(Column, headings)), cells, notes)
