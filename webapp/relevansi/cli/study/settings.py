"""``relevansi study``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import click
from msgspec import to_builtins
from msgspec.structs import replace

from relevansi import labels
from relevansi.cli.frame import options
from relevansi.cli.frame.options import as_json_option, naming
from relevansi.cli.frame.output import TerminalTable, printed, say, write, write_json
from relevansi.i18n import gettext
from relevansi.metrics.judging.headline import headline_of
from relevansi.records import Scale
from relevansi.services.study import studies
from relevansi.services.study.studies import Merging, Switches

GUIDELINES = "guidelines"
BINARY, USUAL = "binary", "usual"
TOPS = {BINARY: 1, "0-2": 2, "0-3": 3, "0-4": 4}


@click.command("study")
@click.option(
    "--scale",
    type=click.Choice([*TOPS]),
    help="Relevant or not, or grades; not once there are verdicts.",
)
@click.option(
    "--relevant-from",
    type=click.IntRange(1, 4),
    metavar="GRADE",
    help="The grade from which a result counts as relevant; not once there are verdicts.",
)
@click.option(
    "--grade-words", metavar="WORDS", help='One for each grade from 0: "no, partly, yes".'
)
@click.option(
    "--merging",
    type=click.Choice([USUAL, *get_args(Merging)]),
    help="How several raters' verdicts become one; usual is the majority, for grades the median.",
)
@click.option(
    "--headline",
    "measures",
    metavar="FIGURES",
    help='The figures shown first, in order: "nDCG@10, P@5, RR", or usual.',
)
@click.option(
    "--quality/--no-quality", "asks_quality", default=None, help="Ask for the quality of answers."
)
@click.option(
    "--marks/--no-marks",
    "marks_words",
    default=None,
    help="Mark the words of the question in texts.",
)
@click.option(
    "--cannot-tell", type=click.Choice(["not-relevant", "left-out"]),
    help='What a card marked "cannot tell" is in the precisions; all figures are made anew.',
)  # fmt: skip
@as_json_option
def study_command(*, as_json: bool, **options_given: Any) -> None:
    """Show the settings of the study, or change some; every change is logged."""
    asked = {name: value for name, value in options_given.items() if value is not None}
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        if asked:
            wanted = _changed(studies.switches(study), asked)
            studies.set_switches(session, study, wanted, options.now())
        session.commit()
        settings = to_builtins(studies.switches(study)) | {"measures": headline_of(study)}
        scale = Scale.stored(study.scale)
    if as_json:
        write_json(settings, indent=2)
        return
    names = asked.keys() - {"cannot_tell"} if asked else settings.keys() - {GUIDELINES}
    if asked.keys() & {"relevant_from", "grade_words"}:
        names |= {"scale"}
    if "cannot_tell" in asked:
        say(labels.cannot_tell(settings["cannot_tell"]))
    shown = settings | {"scale": _said(scale), "measures": ", ".join(settings["measures"])}
    if table := {name: value for name, value in shown.items() if name in names}:
        write(printed([_table(table)]), None)


def _changed(before: Switches, asked: Mapping[str, Any]) -> Switches:
    """Return the switches with what the options ask for; other grades begin without words."""
    scale = before.scale
    if TOPS.get(asked.get("scale", ""), scale.top) != scale.top:
        scale = Scale(TOPS[asked["scale"]])
    threshold, words = asked.get("relevant_from", scale.relevant_from), scale.words
    if "grade_words" in asked:
        words = tuple(word.strip() for word in asked["grade_words"].split(","))
    changes: dict[str, Any] = {}
    with naming("--grade-words" if threshold <= scale.top else "--relevant-from"):
        changes["scale"] = studies.scale_of(scale.top, threshold, words, scale.guidance)
    if "merging" in asked:
        changes["merging"] = None if asked["merging"] == USUAL else asked["merging"]
    if "measures" in asked:
        names = [name for name in asked["measures"].split(",") if name.strip()]
        with naming("--headline"):
            changes["measures"] = () if names == [USUAL] else studies.named_figures(names)
    if "cannot_tell" in asked:
        changes["cannot_tell"] = asked["cannot_tell"].replace("-", "_")
    simple = {name: asked[name] for name in ("asks_quality", "marks_words") if name in asked}
    return replace(before, **changes, **simple)


def _said(scale: Scale) -> str:
    """Return a scale in one line.

    >>> _said(Scale()), _said(Scale(words=("no", "yes")))
    ('binary', 'binary: 0 no, 1 yes')
    """
    said, words = BINARY, ", ".join(f"{n} {word}".strip() for n, word in enumerate(scale.words))
    if scale.top > 1:
        grade = scale.relevant_from
        said = gettext("0-%(top)s, relevant from grade %(grade)s", top=scale.top, grade=grade)
    return f"{said}: {words}" if words else said


def _table(settings: Mapping[str, object]) -> TerminalTable:
    table = TerminalTable(boxed=False)
    table.left(gettext("Setting"), gettext("Value"))
    for name, value in settings.items():
        table.row(name, "-" if value is None else str(value))
    return table
