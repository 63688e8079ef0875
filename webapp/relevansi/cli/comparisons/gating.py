"""``relevansi gate``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from msgspec import DecodeError, json, to_builtins
from msgspec.structs import asdict

from relevansi import labels, notation
from relevansi.chatbot import client
from relevansi.chatbot.answers import detail
from relevansi.chatbot.failures import CallFailed
from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import document_text, one_line
from relevansi.cli.runs.importing import reads_results
from relevansi.config import secret
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.exports import empty_answers
from relevansi.exporters.frame.tables import Document, Section, Table, table_of, text_table
from relevansi.i18n import gettext, mark
from relevansi.importers.results.formats import Choices
from relevansi.metrics.comparisons.gate import GateDifference, GateRequest, Outcome
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.registry import Unit
from relevansi.services.comparisons import gate
from relevansi.services.comparisons.gate import AnswerCounts, GateReport

ADDRESS = "/api/v1/gates"
TOKEN = "RELEVANSI_TOKEN"  # noqa: S105 - the name of a variable
WIDTH = 120
MOST_LISTED = 50
"""So many results to judge are listed for people; JSON has all of them."""

OUTCOMES = {
    Outcome.PASSED: mark("Passed"),
    Outcome.OPEN: mark("Undecided"),
    Outcome.FAILED: mark("Failed"),
}
FLOORS = {
    Outcome.PASSED: mark("the floor %(floor)s is reached"),
    Outcome.OPEN: mark("whether the floor %(floor)s is reached rests on what is not judged"),
    Outcome.FAILED: mark("the floor %(floor)s is missed"),
}

# In the order of `counts` in `_sentences`.
COUNTS = (
    mark("Questions that the baseline lacks, in no figure: %(n)s."),
    mark("Grades in the files, left out as a run does not judge itself: %(n)s."),
    mark("Results of the run without a verdict: %(n)s."),
    mark("Results below the depth to which lists are judged, left open: %(n)s."),
)


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
@click.option("--strict", is_flag=True, help="A floor is asked of the interval's lower end.")
@click.option("--figures", metavar="NAMES", default="", help="The figures that decide, as P@5,RR.")
@click.option(
    "--tolerance",
    type=options.FiniteRange(0),
    metavar="LOSS",
    help="Pass only where the interval rules out a larger loss.",
)
@click.option(
    "--min-judged",
    type=options.FiniteRange(0, 1),
    default=1.0,
    help="The share to be judged where the lists differ.",
)
@click.option("--allow-missing", is_flag=True, help="Leave out questions that the run lacks.")
@click.option("--ask", is_flag=True, help="Keep the run, so that raters judge what is open in it.")
@click.option("--method", default="", help="Search method, as a label of the run.")
@click.option("--llm", default="", help="LLM, as a label of the run.")
@reads_results
@options.rule_option
@replies("table", "json", "markdown")
@click.option(
    "--url",
    envvar="RELEVANSI_URL",
    help="Ask the server there, with the token in RELEVANSI_TOKEN. [env: RELEVANSI_URL]",
)
def gate_command(
    paths: Sequence[Path],
    *,
    reply: Reply,
    url: str | None,
    floors: Sequence[str],
    figures: str,
    ask: bool,
    choices: Choices,
    **further: Any,
) -> None:
    """Hold a new run against floors and against an earlier run, for the checks of a change.

    The run of the files meets every judgment of the study, over the questions of the baseline. A
    question that it lacks counts as an empty list, and an empty list as 0 in every figure, unless
    it is rated a correct one. Nothing of the run is stored, unless --ask keeps it for raters. The
    exit code says what came of it:

    \b
    0  Every floor is reached and no loss is shown; with --tolerance: a loss
       above it is ruled out.
    1  A floor is missed even if all that is open is relevant, or the run is
       worse: p <= 0.05 in the paired test of `relevansi compare`, after Holm's
       correction over the figures that decide. These are the ones that the
       study shows first and that are judged deep enough, or --figures.
    3  Open: too little is judged where the lists differ, or a larger loss than
       the tolerance is not ruled out.

    1 is also that of every failure, which has one line on the standard error.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.naming("--floor"):
        least = gate.floors_in(floors)
    with options.naming("--figures"):
        names = gate.figures_in(figures)
    request = GateRequest(floors=least, figures=names, **further)
    files = [(path.name, path.read_bytes()) for path in paths]
    if url:
        report = _of_server(url, files, request, choices, ask=ask)
    else:
        report = _gated(files, request, choices, ask=ask)
    match reply.file_format:
        case "json":
            reply.json(report)
        case "markdown":
            reply.document(_document(report))
        case _:
            document = _document(report, unjudged=True)
            head = f"{one_line(document.title)}.\n{one_line(document.subtitle)}\n".encode()
            reply.write(head + document_text(document, width=WIDTH))
    raise SystemExit(report.exit_code)


def _gated(
    files: Sequence[tuple[str, bytes]], request: GateRequest, choices: Choices, *, ask: bool
) -> GateReport:
    turns_blind = False
    with options.reading() as (_, study):
        run = gate.read(study, files, choices)
    if ask:
        with options.writing() as (session, study):
            turns_blind = gate.keep_run(session, study, run, request, options.now())
    with options.reading() as (session, study):
        return gate.gate(session, study, run, request, turns_blind=turns_blind)


def _of_server(
    url: str,
    files: Sequence[tuple[str, bytes]],
    request: GateRequest,
    choices: Choices,
    *,
    ask: bool,
) -> GateReport:
    """Return the report of the server at `url`; raises ``ClickException`` where it refuses."""
    try:
        answer = client.request(
            "POST",
            client.full_address(url, ADDRESS),
            token=secret(TOKEN),
            data=_form(request, choices, ask=ask),
            files=[("files", file) for file in files],
        )
        if answer.is_success:
            return json.decode(answer.content, type=GateReport)
    except CallFailed as failed:
        raise click.ClickException(str(failed)) from None
    except DecodeError:
        refusal = gettext("%(url)s is not the address of a Relevansi with gates.", url=url)
        raise click.ClickException(refusal) from None
    why = detail(answer.content)
    with suppress(DecodeError, KeyError, TypeError):
        problem = json.decode(answer.content)
        why = f"{problem['title']}. {problem['detail']}"
    if answer.status_code in {401, 403}:
        advice = gettext("Set %(name)s to a token of the study's owner.", name=TOKEN)
        why = f"{why} {advice}"
    refused = gettext("The server refused (%(status)s):", status=answer.status_code)
    raise click.ClickException(f"{refused} {why}")


def _form(request: GateRequest, choices: Choices, *, ask: bool) -> dict[str, Any]:
    """Return the fields that are set, as the address takes them."""
    limits = to_builtins(request)
    floors = [f"{figure}={value!r}" for figure, value in limits.pop("floors").items()]
    fields = limits | {
        "floor": floors,
        "figures": ",".join(request.figures),
        "ask": ask,
        "columns": json.encode(choices.columns).decode(),
        "grades": json.encode(choices.grades).decode(),
        "depth": choices.depth,
        "split": choices.split,
    }
    # Not `if value`: a tolerance of 0 goes along.
    return {
        name: value
        for name, value in fields.items()
        if value is not False and value not in (None, "")
    }


def _document(report: GateReport, *, unjudged: bool = False) -> Document:
    """Return a report in words and a table; with every `unjudged` result, up to ``MOST_LISTED``."""
    subtitle = gettext(
        "%(run)s against %(baseline)s. Study: %(study)s. Rule: %(rule)s.",
        run=report.name,
        baseline=report.baseline_name,
        study=report.study,
        rule=labels.rule(report.rule, report.merging),
    )
    tables = [_figures(report), *([_unjudged(report)] if unjudged and report.unjudged else [])]
    section = Section("gate", gettext("Run"), tuple(_sentences(report)), tuple(tables))
    return Document(_first_line(report), subtitle, (section,))


def _first_line(report: GateReport) -> str:
    """Return the outcome and its reasons, and which questions are left out."""
    outcome, missing = gettext(OUTCOMES[report.outcome]), report.missing
    if missing and report.request.allow_missing:
        outcome = gettext(
            "%(outcome)s without %(n)s of %(of)s questions, which the run lacks",
            outcome=outcome,
            n=notation.number(len(missing)),
            of=notation.number(len(missing) + report.n_questions),
        )
    reasons = [finding for each, finding in _findings(report) if each is report.outcome]
    if report.outcome is Outcome.PASSED:
        tolerance = report.request.tolerance
        reasons = [gettext("no loss shown")]
        if tolerance is not None:
            reasons = [gettext("no loss over %(loss)s", loss=notation.amount(tolerance))]
    return f"{outcome}: {'; '.join(reasons)}"


def _findings(report: GateReport) -> Iterator[tuple[Outcome, str]]:
    """Yield each finding with its outcome, once for all figures of which it is true."""
    figures_of: dict[tuple[Outcome, str], list[str]] = {}
    for line in report.figures:
        name, unit = figure_name(line.figure), unit_of(line.figure)
        if line.difference is not None:
            finding = _of_difference(unit, line.difference, report)
            figures_of.setdefault((line.difference.outcome, finding), []).append(name)
        if line.floor is not None and line.floor_outcome is not None:
            if report.request.strict:
                name = gettext("%(figure)s, lower end of its interval", figure=name)
            finding = gettext(FLOORS[line.floor_outcome], floor=notation.four(line.floor, unit))
            figures_of.setdefault((line.floor_outcome, finding), []).append(name)
    for (outcome, finding), names in figures_of.items():
        yield outcome, f"{', '.join(names)}: {finding}"


def _of_difference(unit: Unit, difference: GateDifference, report: GateReport) -> str:
    """Return what was found of a difference, and what so many questions could have shown."""
    tolerance = report.request.tolerance
    if difference.outcome is Outcome.OPEN:
        return _why_open(unit, difference, report)
    if not difference.n_apart:
        return gettext("the lists are the same")
    if difference.outcome is Outcome.FAILED:
        return gettext("worse")
    if tolerance is not None:
        return gettext("no loss over %(loss)s", loss=notation.amount(tolerance, unit))
    return _could_show(unit, difference, report)


def _why_open(unit: Unit, difference: GateDifference, report: GateReport) -> str:
    """Return what is missing before a difference can be decided."""
    shares = {report.name: difference.judged, report.baseline_name: difference.baseline_judged}
    too_small = [
        f"{name} {notation.four(share)}"
        for name, share in shares.items()
        if share is not None and share < report.request.min_judged
    ]
    if too_small:
        listed = ", ".join(too_small)
        return gettext("too little is judged where the lists differ (%(shares)s)", shares=listed)
    tolerance = report.request.tolerance
    if difference.p is None or tolerance is None:
        return gettext("no question has a value in both runs")
    loss = notation.amount(tolerance, unit)
    return gettext("a loss over %(loss)s is not ruled out", loss=loss)


def _could_show(unit: Unit, difference: GateDifference, report: GateReport) -> str:
    """Return that no loss shows, and the smallest loss that would have."""
    n, p = notation.number(difference.n), notation.p_value(difference.smallest_p)
    if difference.smallest_p > report.alpha:
        return gettext(
            "no loss shown, and none could be: %(n)s questions give no p below %(p)s", n=n, p=p
        )
    if difference.smallest_loss is None:
        return gettext("no loss shown")
    loss = notation.amount(difference.smallest_loss, unit)
    return gettext(
        "no loss shown; %(n)s questions could have shown one of %(loss)s", n=n, loss=loss
    )


def _sentences(report: GateReport) -> Iterator[str]:
    """Yield the answers of both runs, every finding, and what is left out or not judged."""
    yield _answers(report.name, report.answers)
    yield _answers(report.baseline_name, report.baseline_answers)
    yield from empty_answers.sentences(report.empty_answers)
    for _, finding in _findings(report):
        yield f"{finding}."
    if report.missing:
        message = mark("The run lacks these questions, which count as empty lists: %(questions)s.")
        if report.request.allow_missing:
            message = mark("Left out, as the run lacks them: %(questions)s.")
        yield gettext(message, questions=", ".join(report.missing))
    counts = (report.n_added, report.n_grades, len(report.unjudged), report.n_below_pool)
    for message, n in zip(COUNTS, counts, strict=True):
        if n:
            yield gettext(message, n=notation.number(n))
    if report.run is None:
        yield gettext("Nothing of this run is stored; --ask keeps it, so that raters judge it.")
    else:
        yield gettext("The study has the run: %(run)s.", run=report.run)
    if report.turns_blind:
        yield gettext("From now on the study is rated blind: two runs have the same questions.")


def _answers(name: str, answers: AnswerCounts) -> str:
    return gettext(
        "%(name)s: %(answered)s answered, %(empty)s empty, %(failed)s failed, %(unreadable)s "
        "unreadable, %(missing)s missing.",
        name=name,
        **asdict(answers),
    )


def _figures(report: GateReport) -> Table:
    rows = []
    for line in report.figures:
        unit, difference = unit_of(line.figure), line.difference
        value = notation.four(line.value, unit)
        if line.upper is not None and line.value != line.upper:
            upper = notation.four(line.upper, unit)
            value = gettext("%(value)s, at most %(upper)s", value=value, upper=upper)
        row = [figure_name(line.figure), value, notation.four(line.baseline, unit)]
        if difference is None:
            row += [notation.UNDEFINED] * 4
        else:
            interval = difference.interval
            bounds = notation.interval(interval.lower, interval.upper, unit, signed=True)
            row += [
                f"{notation.difference(difference.mean, unit)} {bounds}",
                notation.number(difference.n),
                f"{difference.wins}/{difference.ties}/{difference.losses}",
                notation.p_value(difference.p_holm),
            ]
        rows.append(row)
    headings = (
        gettext("Figure"),
        report.name,
        report.baseline_name,
        gettext("Difference, %(share)s interval", share=notation.percent(CONFIDENCE)),
        "n",
        gettext("Wins/ties/losses"),
        gettext("p after Holm"),
    )
    note = gettext(
        "An empty list, a failed call, an unreadable answer and a missing question are 0 in every "
        "figure, unless the empty list is rated a correct one. What nobody judged counts as not "
        "relevant; at most: as relevant."
    )
    return text_table(gettext("Figures of the gate"), headings, rows, note, name="figures")


def _unjudged(report: GateReport) -> Table:
    n = len(report.unjudged) - MOST_LISTED
    more = [gettext("%(n)s more; --format json lists all.", n=n)] if n > 0 else []
    return table_of(
        "unjudged",
        gettext("Results without a verdict"),
        report.unjudged[:MOST_LISTED],
        (
            (gettext("Question"), lambda result: notation.number(result.position)),
            ("id", lambda result: result.external_id or notation.UNDEFINED),
            (gettext("Rank"), lambda r: notation.number(r.rank) if r.rank else notation.UNDEFINED),
            (gettext("Item"), lambda r: r.item if r.rank else gettext("empty list")),
            (gettext("Title"), lambda result: result.title),
        ),
        *more,
    )
