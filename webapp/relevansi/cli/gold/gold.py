"""``relevansi gold`` and ``manual-input``: gold questions, and decisions by hand, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relevansi.cli.frame import options
from relevansi.cli.frame.options import FILE, Reply, output_option, replies
from relevansi.cli.frame.output import say, write_json
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext, ngettext
from relevansi.importers.runs import problems
from relevansi.services.gold import constraints, gold
from relevansi.services.gold.gold import Gold, GoldSet, UnknownQuestionSet
from relevansi.services.runs.runs import UnknownRun
from relevansi.services.study import studies

of_set = click.option("--set", "set_id", type=int, metavar="ID", help="A question set's id.")
of_run = click.option("--run", "run_id", metavar="ID", help="The question set of this run.")
decided_run = click.option(
    "--run", "run_id", required=True, metavar="ID", help="The run decided on."
)


@click.group("gold")
def gold_command() -> None:
    """Take gold questions in or out: what each question asks of the cards it gets."""


@gold_command.command("list")
@replies()
def list_command(*, reply: Reply) -> None:
    """List the question sets with the gold questions in force.

    \b
    JSON: {question_sets: [{id, questions, first_question, runs: [ID],
                            gold: {version, name, by, at, questions, threshold_t} or null}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.reading() as (session, study):
        sets = [(each, gold.in_force(session, each.id)) for each in gold.sets(session, study)]
    if reply.is_json:
        rows = [
            {
                "id": question_set.id,
                "questions": len(question_set.questions),
                "first_question": question_set.questions[0] if question_set.questions else None,
                "runs": [run.id for run in question_set.runs],
                "gold": None if in_force is None else _gold_json(in_force),
            }
            for question_set, in_force in sets
        ]
        reply.json({"question_sets": rows})
        return
    for question_set, in_force in sets:
        count = ngettext("%(n)s question", "%(n)s questions", len(question_set.questions))
        run_ids = " ".join(run.id for run in question_set.runs)
        say(f"{question_set.id}  {count}  {_version(in_force)}  {run_ids}")


@gold_command.command("import")
@click.argument("file", type=FILE)
@of_set
@of_run
@replies()
def import_command(file: Path, set_id: int | None, run_id: str | None, *, reply: Reply) -> None:
    """Save the gold file FILE as the newest version of a question set.

    The only question set is meant where neither --set nor --run names one. What does not fit
    between the file and a run of the set is told; the version is saved all the same.

    \b
    JSON: {question_set, is_new, version, name, by, at, questions, threshold_t,
           problems: [{run, severity, file, query_id, line, code, message}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.writing() as (session, study):
        chosen = _chosen(gold.sets(session, study), set_id, run_id)
        owner = studies.raters(session, study)[0]
        gold.import_file(session, owner, chosen.id, file.name, file.read_bytes(), options.now())
        in_force = gold.in_force(session, chosen.id)
        assert in_force is not None
        remarks = [
            (run.id, problem)
            for run in chosen.runs
            for problem in gold.remarks(session, run.id, in_force)
        ]
    is_new = in_force.version.number > len(chosen.versions)
    if reply.is_json:
        document = {
            "question_set": chosen.id,
            "is_new": is_new,
            **_gold_json(in_force),
            "problems": [{"run": run, **problems.to_dict(problem)} for run, problem in remarks],
        }
        reply.json(document)
        return
    state = _version(in_force) if is_new else gettext("already in force: nothing was saved")
    count = ngettext("%(n)s gold question", "%(n)s gold questions", len(in_force.questions))
    say(f"{chosen.id}  {count}: {state}")
    for run, problem in remarks:
        say(f"  !  {run}: {problems.message(problem)}", err=True)


@gold_command.command("export")
@of_set
@of_run
@click.option("--version", "number", type=int, metavar="N", help="A version; else the newest.")
@output_option
def export_command(
    set_id: int | None, run_id: str | None, number: int | None, output: Path | None
) -> None:
    """Write the gold questions of a question set as a gold file, which `gold import` reads.

    The only question set is meant where neither --set nor --run names one.
    """
    with options.reading() as (session, study):
        chosen = _chosen(gold.sets(session, study), set_id, run_id)
        if not chosen.versions:
            refusal = gettext(
                "This question set has no gold questions; `relevansi gold import` adds them."
            )
            raise click.ClickException(refusal)
        number = chosen.versions[0].number if number is None else number
        document = gold.read(session, chosen.id, number).document
    write_json(document, output)


def _chosen(sets: list[GoldSet], set_id: int | None, run_id: str | None) -> GoldSet:
    """Return the question set that --set or --run names, or the only one there is."""
    if set_id is not None and run_id is not None:
        raise click.UsageError(gettext("Say --set or --run, not both."))
    if not sets:
        refusal = gettext(
            "Gold questions belong to the questions of a run: `relevansi import` one first."
        )
        raise click.ClickException(refusal)
    matching = [each for each in sets if set_id in {None, each.id}]
    if run_id is not None:
        matching = [each for each in matching if run_id in {run.id for run in each.runs}]
    if not matching:
        raise UnknownQuestionSet(set_id) if run_id is None else UnknownRun(run_id)
    if len(matching) > 1:
        raise click.UsageError(
            gettext("There are several question sets: say --set or --run; `relevansi gold list`.")
        )
    return matching[0]


def _version(gold: Gold | None) -> str:
    if gold is None:
        return gettext("no gold questions yet")
    return gettext("%(name)s, version %(n)s", name=gold.version.name, n=gold.version.number)


def _gold_json(gold: Gold) -> dict[str, Any]:
    return {
        "version": gold.version.number,
        **fields(gold.version, "name", "by", "at"),
        "questions": len(gold.questions),
        "threshold_t": float(gold.threshold),
    }


@click.group("manual-input")
def manual_input_command() -> None:
    """Take decisions by hand on a run's cards in or out, as manual_input.json."""


@manual_input_command.command("import")
@click.argument("file", type=FILE)
@decided_run
@replies()
def import_manual_command(file: Path, run_id: str, *, reply: Reply) -> None:
    """Take in the decisions of FILE: constraints overridden, cards passed or failed.

    Decisions that FILE does not name stay as they are. Those on questions or cards that the
    run does not have are told and left out; where none fits, the command ends with 1.

    \b
    JSON: {run, new, fitting, problems: [{severity, file, query_id, line, code, message}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.writing() as (session, study):
        owner = studies.raters(session, study)[0]
        n_new, n_fitting, unfit = constraints.import_manual(
            session, owner, run_id, file.name, file.read_bytes(), options.now()
        )
    if reply.is_json:
        document = {"run": run_id, "new": n_new, "fitting": n_fitting}
        reply.json(document | {"problems": [*map(problems.to_dict, unfit)]})
    else:
        new = ngettext("%(n)s new decision", "%(n)s new decisions", n_new)
        say(f"{run_id}  {file.name}: {new}")
        for problem in unfit:
            say(f"  !! {problems.message(problem)}", err=True)
    if unfit and not n_fitting:
        refusal = gettext("No decision in %(file)s fits run %(run)s.", file=file.name, run=run_id)
        raise click.ClickException(refusal)


@manual_input_command.command("export")
@decided_run
@output_option
def export_manual_command(run_id: str, output: Path | None) -> None:
    """Write the decisions in force on a run's cards, as `manual-input import` reads them."""
    with options.reading() as (session, study):
        document = constraints.manual_document(session, study, run_id, options.now())
    write_json(document, output)
