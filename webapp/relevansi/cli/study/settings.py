"""``relevansi study``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import click
from msgspec import to_builtins
from msgspec.structs import replace

from relevansi import labels
from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, naming, replies
from relevansi.cli.frame.output import say
from relevansi.exporters.frame.tables import settings_table
from relevansi.i18n import gettext
from relevansi.metrics.judging.graded import headline_of
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
    "--cannot-tell",
    type=click.Choice(["not-relevant", "left-out"]),
    help='What a card marked "cannot tell" is in the precisions; all figures are made anew.',
)
@replies()
def study_command(*, reply: Reply, **changes: Any) -> None:
    """Show the settings of the study, or change some; every change is logged."""
    changes = {name: value for name, value in changes.items() if value is not None}
    with options.writing() as (session, study):
        if changes:
            switches = _changed(studies.switches(study), changes)
            studies.set_switches(session, study, switches, options.now())
        settings = to_builtins(studies.switches(study)) | {"measures": headline_of(study)}
        scale = Scale.stored(study.scale)
    if reply.is_json:
        reply.json(settings)
        return
    names = changes.keys() - {"cannot_tell"} if changes else settings.keys() - {GUIDELINES}
    if changes.keys() & {"relevant_from", "grade_words"}:
        names |= {"scale"}
    if "cannot_tell" in changes:
        say(labels.cannot_tell(settings["cannot_tell"]))
    texts = settings | {"scale": _in_words(scale), "measures": ", ".join(settings["measures"])}
    rows = [
        (name, "-" if value is None else str(value))
        for name, value in texts.items()
        if name in names
    ]
    if rows:
        reply.table(settings_table("", "", rows))


def _changed(before: Switches, values: Mapping[str, Any]) -> Switches:
    """Return the switches with what the options ask for; other grades begin without words."""
    scale = before.scale
    if TOPS.get(values.get("scale", ""), scale.top) != scale.top:
        scale = Scale(TOPS[values["scale"]])
    threshold = values.get("relevant_from", scale.relevant_from)
    words = scale.words
    if "grade_words" in values:
        words = tuple(word.strip() for word in values["grade_words"].split(","))
    changes: dict[str, Any] = {}
    with naming("--grade-words" if threshold <= scale.top else "--relevant-from"):
        changes["scale"] = studies.scale_of(scale.top, threshold, words, scale.guidance)
    if "merging" in values:
        changes["merging"] = None if values["merging"] == USUAL else values["merging"]
    if "measures" in values:
        names = [name for name in values["measures"].split(",") if name.strip()]
        with naming("--headline"):
            changes["measures"] = () if names == [USUAL] else studies.named_figures(names)
    if "cannot_tell" in values:
        changes["cannot_tell"] = values["cannot_tell"].replace("-", "_")
    simple = {name: values[name] for name in ("asks_quality", "marks_words") if name in values}
    return replace(before, **changes, **simple)


def _in_words(scale: Scale) -> str:
    """Return a scale in one line.

    >>> _in_words(Scale()), _in_words(Scale(words=("no", "yes")))
    ('binary', 'binary: 0 no, 1 yes')
    """
    name = BINARY
    words = ", ".join(f"{n} {word}".strip() for n, word in enumerate(scale.words))
    if scale.top > 1:
        grade = scale.relevant_from
        name = gettext("0-%(top)s, relevant from grade %(grade)s", top=scale.top, grade=grade)
    return f"{name}: {words}" if words else name
