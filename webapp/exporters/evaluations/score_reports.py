"""The summary of an automatic evaluation as tables and sentences.

Made of the keys above the items of ``scores.json`` and of the figures, which the command
line has just computed and the pages have stored: both give the same report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from webapp import notation
from webapp.exporters.exports.metrics_tables import read_together
from webapp.exporters.frame import latex
from webapp.exporters.frame import tables as markdown
from webapp.exporters.frame.tables import Cell, Column, Document, Section, Table, whole_number, word
from webapp.i18n import gettext, mark
from webapp.metrics.evaluations.answers import SETTINGS, WhyUndefined
from webapp.metrics.evaluations.json_answers import WEIGHTS
from webapp.metrics.evaluations.registry import (
    ANSWER_MAIN,
    ANSWER_MEASURES,
    CHUNK_MEASURES,
    EVALUATIONS,
    JSON_MEASURES,
)

Head = Mapping[str, Any]
Figures = Sequence[Mapping[str, Any]]

WRITERS: Mapping[str, Callable[[Document], bytes]] = MappingProxyType(
    {"markdown": markdown.markdown, "latex": latex.latex}
)
"""The functions that write a report as a file, by the name of the format."""

WHY_UNDEFINED = {
    WhyUndefined.NO_EMBEDDER: mark(
        "No cosines: give claim_similarities in the file or choose an --embedder."
    ),
    WhyUndefined.NO_GOLD: mark("No answer has a gold answer."),
    WhyUndefined.NO_USAGE: mark("No answer states its tokens."),
    WhyUndefined.NO_LATENCY: mark("No answer states its latency."),
    WhyUndefined.NO_ROW: mark("No answer was scored."),
}
_JUDGED = "avg_faithfulness_judge"


def report(kind: str, name: str, head: Head, figures: Figures) -> Document:
    """The report on the file `name`, in the language in force.

    `head` and `figures` are those of ``score_documents`` for the evaluation `kind`.
    """
    sections = {"answers": _answers, "chunks": _chunks, "json-v2": _json}[kind](head, figures)
    return Document(
        title=gettext(EVALUATIONS[kind].title),
        subtitle=name,
        sections=tuple(one for one in sections if one.sentences or one.tables),
    )


def stated_settings(stated: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """One sentence for each setting of generation that the file states."""
    return tuple(
        gettext(
            "The file states %(name)s %(value)s (%(n)s answers).",
            name=name,
            value=_range(stated[name]["lowest"], stated[name]["highest"]),
            n=int(stated[name]["n"]),
        )
        for name in SETTINGS
        if name in stated
    )


def too_long(field: str, n: int) -> str:
    """The warning that a field of so many answers has more items than it may."""
    return gettext(
        "%(field)s has more items than it may in this many answers: %(n)s.", field=field, n=n
    )


def _answers(head: Head, figures: Figures) -> Iterator[Section]:
    names = {*ANSWER_MAIN, _JUDGED}
    main = [one for one in figures if one["name"] in names]
    main.sort(key=lambda one: ANSWER_MAIN.index(one["name"].removesuffix("_judge")))
    rest = [one for one in figures if one["name"] not in names]
    yield _figures(_answer_table("main", gettext("Main table"), main))
    yield _reading("answers")
    yield Section(
        "rules", gettext("Rules of thumb"), tuple(map(gettext, EVALUATIONS["answers"].rules)), ()
    )
    cosines = gettext(
        "Cosines: %(embedder)s; tau_sim %(tau_sim)s.",
        embedder=head["embedder"] or gettext("none"),
        tau_sim=notation.number(head["tau_sim"]),
    )
    citations = (
        gettext("Citations count as words in exact match and F1.")
        if head.get("keep_citations")
        else gettext("Citations are left out of exact match and F1.")
    )
    yield _settings(cosines, citations, *stated_settings(head.get("settings", {})), *_rows(head))
    title = gettext("Appendix")
    yield Section("appendix", title, (), (_answer_table("appendix", title, rest),))


def _chunks(head: Head, figures: Figures) -> Iterator[Section]:
    count = head["summary"]["count"]
    overall = {one["name"]: one["value"] for one in figures}
    rows = [_means(gettext("All"), {"count": count, **overall})]
    named = {name: means for name, means in head["strategies"].items() if name}
    rows += [_means(name, means) for name, means in named.items()]
    if "" in head["strategies"]:
        rows.append(_means(gettext("None named"), head["strategies"][""]))
    labels = (gettext(measure.label) for measure in CHUNK_MEASURES.values())
    columns = (Column(gettext("Strategy")), *(Column(one, numeric=True) for one in ("n", *labels)))
    yield _figures(Table("chunks", gettext("Means"), columns, tuple(rows), ()))
    yield _reading("chunks")
    yield _settings(*_rows(head))


def _json(head: Head, figures: Figures) -> Iterator[Section]:
    sets = {gettext("Dev set"): head["subset"]} if head["subset"] else {}
    if not head.get("stopped"):
        sets[gettext("All")] = head["summary"]
    yield Section("gate", gettext("Gate"), tuple(_gate(head)), (_averages(sets),))
    yield _figures(_fields(head, figures))
    failures = [f"{reason}: {n}" for reason, n in _most(head)]
    yield Section("failures", gettext("Failed outputs"), tuple(failures), ())
    yield _reading("json-v2")
    sources = tuple(f"{name}: {value}" for name, value in head["provenance"].items())
    yield Section("provenance", gettext("Where the answers come from"), sources, ())


def _figures(*tables: Table) -> Section:
    return Section("figures", gettext("Figures"), (), tables)


def _reading(kind: str) -> Section:
    evaluation = EVALUATIONS[kind]
    advice = tuple(read_together(one, evaluation.measures) for one in evaluation.advice)
    return Section("reading", gettext("Read together"), advice, ())


def _settings(*sentences: str) -> Section:
    return Section("settings", gettext("Settings"), sentences, ())


def _rows(head: Head) -> Iterator[str]:
    if head.get("first_n") is not None:
        yield gettext("Only the first %(n)s rows were scored (--n).", n=head["first_n"])
    if head.get("left_out"):
        yield gettext("Lines left out: %(n)s.", n=head["left_out"])


def _answer_table(name: str, title: str, figures: Figures) -> Table:
    reasons = {one["why"] for one in figures}
    return Table(
        name=name,
        title=title,
        columns=(
            Column(gettext("Figure")),
            Column(gettext("Value"), numeric=True),
            Column("n", numeric=True),
        ),
        rows=tuple(_answer_row(one["name"], one["value"], one["n"]) for one in figures),
        notes=tuple(f"-: {gettext(WHY_UNDEFINED[why])}" for why in WhyUndefined if why in reasons),
    )


def _answer_row(name: str, value: float | None, n: int) -> tuple[Cell, ...]:
    if name == _JUDGED:
        label, is_share = gettext("Faithfulness (judge)"), True
    else:
        measure = ANSWER_MEASURES[name]
        label, is_share = gettext(measure.label), measure.unit == "ratio"
    shown = _exact(value)
    if value is not None and not is_share:
        shown = Cell(notation.number(round(value, 1)), (value,))
    return word(label), shown, whole_number(n)


def _means(name: str, means: Mapping[str, Any]) -> tuple[Cell, ...]:
    figures = (_exact(means[figure]) for figure in CHUNK_MEASURES)
    return (word(name), whole_number(means["count"]), *figures)


def _gate(head: Head) -> Iterator[str]:
    gate, deciding = head["gate"], head["subset"] or head["summary"]
    yield gettext("Gate passed") if deciding["gate_passed"] else gettext("Gate not passed")
    yield gettext(
        "It asks for a mean score of at least %(average)s and a schema pass rate of at least "
        "%(rate)s.",
        average=notation.number(gate["min_average"]),
        rate=notation.number(gate["min_pass_rate"]),
    )
    if head.get("stopped"):
        yield gettext("The dev set did not pass, so the rest was not scored.")


def _averages(sets: Mapping[str, Mapping[str, Any]]) -> Table:
    average, rate, gate = (
        word(gettext(JSON_MEASURES[name].label))
        for name in ("eval_score_avg", "schema_pass_rate", "gate_passed")
    )
    parts = sets.values()
    passed, not_passed = gettext("passed"), gettext("not passed")
    rows = (
        (word(gettext("Answers")), *(whole_number(part["count"]) for part in parts)),
        (average, *(_exact(part["eval_score_avg"]) for part in parts)),
        (rate, *(_exact(part["schema_pass_rate"]) for part in parts)),
        (gate, *(word(passed if part["gate_passed"] else not_passed) for part in parts)),
    )
    columns = (Column(gettext("Figure")), *(Column(name, numeric=True) for name in sets))
    return Table("averages", gettext("Averages"), columns, rows, ())


def _fields(head: Head, figures: Figures) -> Table:
    overall = {one["name"]: one["value"] for one in figures}
    subset = head.get("part_means", {}).get("subset")
    sets = {gettext("Dev set"): subset} if subset else {}
    if not head.get("stopped"):
        sets[gettext("All")] = overall
    columns = (gettext("Points"), *sets)
    return Table(
        name="fields",
        title=gettext("Fields"),
        columns=(Column(gettext("Field")), *(Column(one, numeric=True) for one in columns)),
        rows=tuple(
            (
                word(name),
                Cell(notation.number(float(100 * weight)), (float(100 * weight),)),
                *(_exact(means[name]) for means in sets.values()),
            )
            for name, weight in WEIGHTS.items()
        ),
        notes=(
            gettext("Means from 0 to 1; an output that failed has 0 in every field."),
            *(too_long(name, n) for name, n in sorted(head["too_long"].items())),
        ),
    )


def _most(head: Head) -> list[tuple[str, int]]:
    return sorted(head["reasons"].items(), key=lambda one: -one[1])


def _exact(value: float | None) -> Cell:
    return Cell(notation.four(value), (value,))


def _range(lowest: float, highest: float) -> str:
    values = dict.fromkeys((notation.number(lowest), notation.number(highest)))
    return " - ".join(values)
