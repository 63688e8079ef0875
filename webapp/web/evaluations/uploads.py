"""The form by which files are scored: its content, and the checks of it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flask import request
from wtforms import BooleanField, Field, Form

from webapp.i18n import gettext, mark
from webapp.importers.runs.problems import message
from webapp.metrics.evaluations.json_answer_summary import Gate
from webapp.printable import printable_line
from webapp.records import Problem
from webapp.services.evaluations import embedders, long_kind
from webapp.services.evaluations.files import ScoringSettings
from webapp.services.evaluations.rows import EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes
from webapp.services.workers import long_work
from webapp.services.workers.long_work import UnknownLongWork
from webapp.web.frame import access
from webapp.web.frame.fields import ChoiceField, DecimalField, WholeField
from webapp.web.frame.forms import UnusableForm

LEAST_MEAN, LEAST_RATE = Fraction(95), Fraction("0.98")
MOST_ROWS = 10**9 - 1
MOST_TOLD = 20
"""So many problems of refused files are shown."""


class ScoringForm(Form):
    """The settings by which files are scored."""

    kind = ChoiceField(
        {str(kind): kind for kind in EvaluationKind},
        wrong=mark("Say first what kind of file it is."),
    )
    embedder = ChoiceField(
        ["", "lexical", "package", "endpoint"],
        default="",
        wrong=mark("No embeddings endpoint is configured."),
    )
    tau_sim = DecimalField(-1, 1, label=mark("Threshold (tau_sim)"))
    keep_citations = BooleanField()
    min_average = DecimalField(0, 100, label=mark("Least mean score"), default=LEAST_MEAN)
    min_pass_rate = DecimalField(0, 1, label=mark("Least schema pass rate"), default=LEAST_RATE)
    first = WholeField(1, MOST_ROWS, wrong=mark("Only the first rows: a whole number from 1."))
    stop_at_gate = BooleanField()


def settings(form: ScoringForm) -> ScoringSettings:
    """Return the settings of the scoring; raises ``UnusableForm``, ``EmbedderUnusable``."""
    if not form.validate():
        raise UnusableForm({field.name: _message(field) for field in form if field.errors})
    kind: EvaluationKind = form.kind.data
    mean, rate, tau_sim = form.min_average.data, form.min_pass_rate.data, form.tau_sim.data
    if form.first.data and kind is EvaluationKind.JSON:
        raise UnusableForm(
            {"first": gettext("JSON answers have no first rows: give a dev set instead.")}
        )
    return ScoringSettings(
        kind=kind,
        embedder=embedders.chosen(embedder_of(form)),
        tau_sim=None if tau_sim is None else float(tau_sim),
        keep_citations=form.keep_citations.data,
        gate=Gate(LEAST_MEAN if mean is None else mean, LEAST_RATE if rate is None else rate),
        first=form.first.data,
        subset=_of_json("subset", kind, gettext("Only JSON answers have a dev set.")),
        stop_at_gate=form.stop_at_gate.data,
        prompt=_of_json("prompt", kind, gettext("Only JSON answers state their prompt.")),
    )


def files(kind: EvaluationKind) -> tuple[NamedBytes, ...]:
    """Return the chosen files, for JSON answers one or two; raises ``UnusableForm``."""
    chosen = [request.files.get("file"), request.files.get("outputs")]
    found = tuple(
        NamedBytes(_name(one.filename), one.read()) for one in chosen if one and one.filename
    )
    if not found:
        raise UnusableForm({"file": gettext("Please choose a file first.")})
    if len(found) > 1 and kind is not EvaluationKind.JSON:
        raise UnusableForm({"outputs": gettext("Only JSON answers come in two files.")})
    first = chosen[0]
    if first is None or not first.filename:
        raise UnusableForm(
            {"file": gettext("Choose the questions too: the outputs alone say little.")}
        )
    return found


def refused(work_id: str) -> tuple[ScoringForm, tuple[str, ...]]:
    """Return the form of files that were refused beside the requests as it was sent, and why."""
    with access.reading() as (session, rater):
        work = long_work.find(session, rater.study, work_id)
    if work.kind != long_kind.SCORING:
        raise UnknownLongWork(work_id)
    wanted, why = work.wanted, work.result or {}
    average, rate = map(Fraction, wanted["gate"])
    names = ("embedder", "tau_sim", "keep_citations", "first", "stop_at_gate")
    asked = ScoringForm(
        kind=EvaluationKind(wanted["kind"]),
        min_average=average,
        min_pass_rate=rate,
        **{name: wanted[name] for name in names},
    )
    problems = [Problem.stored(stored) for stored in why.get("problems", ())]
    return asked, told(problems) or (why.get("sentence", ""),)


def told(problems: Iterable[Problem]) -> tuple[str, ...]:
    """Return the first problems of refused files in words, each once."""
    return tuple(dict.fromkeys(map(message, problems)))[:MOST_TOLD]


def embedder_of(form: ScoringForm) -> str:
    """Return the name of the embedder that the form asks for; only answers have one."""
    return form.embedder.data if form.kind.data is EvaluationKind.ANSWERS else ""


def _message(field: Field) -> str:
    """Return the error of a field; that of a number names the field and its limits."""
    if not isinstance(field, DecimalField):
        return gettext(str(field.errors[0]))
    return gettext(
        "%(name)s: a number from %(low)s to %(high)s.",
        name=gettext(field.label.text),
        low=field.low,
        high=field.high,
    )


def _of_json(field: str, kind: EvaluationKind, otherwise: str) -> NamedBytes | None:
    """Return the file chosen in a field that is for JSON answers, if there is one."""
    chosen = request.files.get(field)
    if chosen is None or not chosen.filename:
        return None
    if kind is not EvaluationKind.JSON:
        raise UnusableForm({field: otherwise})
    return NamedBytes(_name(chosen.filename), chosen.read())


def _name(filename: str | None) -> str:
    name = (filename or "").replace("\\", "/").rpartition("/")[2]
    return printable_line(name)[:200] or "file"
