"""The results of the automatic evaluations: plain values with the keys of the method, and a report.

Undefined is null; figures are unrounded. The report is made of the figures and of the `head` of
``scores.json``, its keys above the items. The command line has just computed both and the pages
have them stored, so that both write the same report.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, Self

from msgspec import to_builtins

from relevansi import notation
from relevansi.exporters.exports.meanings import read_together
from relevansi.exporters.frame import latex
from relevansi.exporters.frame import tables as markdown
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    numbers,
    whole_number,
    word,
)
from relevansi.i18n import gettext, mark
from relevansi.metrics.evaluations import registry
from relevansi.metrics.evaluations.answers import (
    JUDGED,
    SETTINGS,
    AnswerScore,
    Support,
    WhyUndefined,
)
from relevansi.metrics.evaluations.chunks import CHUNK_FIGURES, ChunkScore
from relevansi.metrics.evaluations.json_answers import WEIGHTS, JsonScore, JsonSummary

Head = Mapping[str, Any]
Figures = Sequence[Mapping[str, Any]]
Item = Mapping[str, Any]

_OF_ANSWERS = (
    *("claim_sentences", "supported", "overlap", "faithfulness"),
    *("em", "f1", "abstain", "total_tokens"),
)
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "answers": ("id", "sentences", *_OF_ANSWERS, "latency_ms", "idk_with_citation"),
    "chunks": ("id", "strategy", *CHUNK_FIGURES),
    "json-v2": ("id", "schema_ok", "reason", "score", *WEIGHTS),
}
"""The columns of the table of items, by kind."""

LEAST_PASSED = 0.5
"""A field that earned at least this share counts as passed by the machine."""

_UNDECIDED = (Support.DO_NOT_KNOW, Support.DO_NOT_KNOW_CITED, Support.NOT_MEASURED)
"""What the machine says of a sentence without judging it."""


class ScoredRow(NamedTuple):
    """One scored row with its result as files have it, and the machine's verdict on each part."""

    item_id: str
    row: Mapping[str, Any]
    result: Mapping[str, Any]
    parts: tuple[Mapping[str, Any], ...]
    failed: bool


def answer_row(score: AnswerScore) -> ScoredRow:
    """A cited answer; it failed where a claim is not supported or a contract is broken.

    A judge's faithfulness is beside the fallback where there is one.
    """
    judged = score.row.faithfulness_judge
    result = {
        "id": score.row.row_id,
        "sentences": len(score.verdicts),
        **fields(score, *_OF_ANSWERS),
        "latency_ms": score.row.latency_ms,
        "idk_with_citation": score.idk_with_citation,
        **({} if judged is None else {"faithfulness_judge": judged}),
    }
    parts = tuple(
        {
            "key": str(number),
            "passed": None if verdict.support in _UNDECIDED else verdict.support == "supported",
            "support": str(verdict.support),
            "cosine": verdict.cosine,
        }
        for number, verdict in enumerate(score.verdicts)
    )
    failed = score.idk_with_citation > 0 or any(part["passed"] is False for part in parts)
    return ScoredRow(score.row.row_id, to_builtins(score.row), result, parts, failed)


def chunk_row(score: ChunkScore) -> ScoredRow:
    """A row of chunks; a chunk passes with a word in common, the row fails with none."""
    row = score.row
    result = {"id": row.row_id, "strategy": row.strategy, **fields(score, *CHUNK_FIGURES)}
    parts = tuple(
        {"key": str(number), "passed": bool(words)}
        for number, words in enumerate(score.chunk_words)
    )
    return ScoredRow(row.row_id, to_builtins(row), result, parts, failed=not score.common)


def json_row(score: JsonScore) -> ScoredRow:
    """A JSON answer; a field passes with half of its points, a wrong form fails the answer."""
    question = score.question
    result = {
        "id": question.row_id,
        "schema_ok": score.schema_ok,
        "reason": None if score.reason is None else str(score.reason),
        "score": float(score.score),
        **{name: float(score.parts[name]) for name in WEIGHTS},
    }
    parts = tuple(
        {"key": name, "passed": part >= LEAST_PASSED, "score": float(part)}
        for name, part in score.parts.items()
    )
    failed = not score.schema_ok
    return ScoredRow(question.row_id, to_builtins(question), result, parts, failed)


def json_summary(summary: JsonSummary) -> dict[str, Any]:
    """The averages over all answers, and whether they pass the gate."""
    average, rate = summary.average, summary.schema_pass_rate
    return {
        "count": summary.count,
        "eval_score_avg": None if average is None else float(average),
        "schema_pass_rate": None if rate is None else float(rate),
        "gate_passed": summary.gate_passed,
    }


def json_file(head: Head, items: Iterable[Item]) -> Iterator[bytes]:
    """The JSON file, piece by piece: the keys of `head`, then the list of items, one to a line."""
    text = json.dumps(head, ensure_ascii=False, indent=1)
    yield text.removesuffix("\n}").encode() + b',\n "items": ['
    separator = ""
    for item in items:
        yield f"{separator}\n  {json.dumps(item, ensure_ascii=False)}".encode()
        separator = ","
    yield b"\n ]\n}\n" if separator else b"]\n}\n"


def csv_file(columns: Sequence[str], items: Iterable[Item]) -> Iterator[bytes]:
    """The table of items, header first, line by line."""
    yield csv_bytes([columns])
    for item in items:
        yield csv_bytes([[item.get(column) for column in columns]])


class WaitingRows:
    """Rows that wait on the disk, in their order, until the head of their file is known.

    ``n`` counts them.

    >>> with WaitingRows() as rows:
    ...     rows.add({"id": "q1", "f1": 0.1})
    ...     rows.n, list(rows), list(rows)
    (1, [{'id': 'q1', 'f1': 0.1}], [{'id': 'q1', 'f1': 0.1}])
    """

    def __init__(self) -> None:
        self.n = 0
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Put a row behind the others."""
        self._file.write(json.dumps(row).encode() + b"\n")
        self.n += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        return (json.loads(line) for line in self._file)


WRITERS = {"markdown": markdown.markdown, "latex": latex.latex}
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


def report(kind: str, name: str, head: Head, figures: Figures) -> Document:
    """The report on the file `name`, in the language in force."""
    evaluation = registry.EVALUATIONS[kind]
    advice = tuple(read_together(each, evaluation.measures) for each in evaluation.advice)
    reading = Section("reading", gettext("Read together"), advice, ())
    sections_of = {"answers": _answers, "chunks": _chunks, "json-v2": _json}[kind]
    sections = sections_of(head, figures, reading)
    filled = tuple(section for section in sections if section.sentences or section.tables)
    return Document(gettext(evaluation.title), name, filled)


def too_long(field: str, n: int) -> str:
    """The warning that a field of so many answers has more items than it may."""
    return gettext(
        "%(field)s has more items than it may in this many answers: %(n)s.", field=field, n=n
    )


def _answers(head: Head, figures: Figures, reading: Section) -> Iterator[Section]:
    """Yield the sections on cited answers: main table, reading, rules, settings, appendix."""
    names = {*registry.ANSWER_MAIN, JUDGED}
    main = [figure for figure in figures if figure["name"] in names]
    # A judge's faithfulness comes beside that of the cosines.
    main.sort(key=lambda figure: registry.ANSWER_MAIN.index(figure["name"].removesuffix("_judge")))
    further = [figure for figure in figures if figure["name"] not in names]
    yield _figures(_answer_table("main", gettext("Main table"), main))
    yield reading
    rules = tuple(map(gettext, registry.EVALUATIONS["answers"].rules))
    yield Section("rules", gettext("Rules of thumb"), rules, ())
    cosines = gettext(
        "Cosines: %(embedder)s; tau_sim %(tau_sim)s.",
        embedder=head["embedder"] or gettext("none"),
        tau_sim=notation.number(head["tau_sim"]),
    )
    citations = gettext("Citations are left out of exact match and F1.")
    if head["keep_citations"]:
        citations = gettext("Citations count as words in exact match and F1.")
    settings = []
    for name, bounds in sorted(head["settings"].items(), key=lambda item: SETTINGS.index(item[0])):
        values = dict.fromkeys(notation.number(bounds[end]) for end in ("lowest", "highest"))
        sentence = gettext(
            "The file states %(name)s %(value)s (%(n)s answers).",
            name=name,
            value=" - ".join(values),
            n=int(bounds["n"]),
        )
        settings.append(sentence)
    yield _settings(head, cosines, citations, *settings)
    appendix = gettext("Appendix")
    yield Section("appendix", appendix, (), (_answer_table("appendix", appendix, further),))


def _chunks(head: Head, figures: Figures, reading: Section) -> Iterator[Section]:
    """Yield the sections on chunks: the means over all rows and by strategy, and the settings."""
    overall = {figure["name"]: figure["value"] for figure in figures}
    overall["count"] = head["summary"]["count"]
    strategies = dict(head["strategies"])
    unnamed = strategies.pop("", None)
    lines = [(gettext("All"), overall), *strategies.items()]
    if unnamed is not None:
        lines.append((gettext("None named"), unnamed))
    rows = []
    for strategy, means in lines:
        values = (_exact(means[name]) for name in registry.CHUNK_MEASURES)
        rows.append((word(strategy), whole_number(means["count"]), *values))
    labels = (gettext(measure.label) for measure in registry.CHUNK_MEASURES.values())
    columns = _columns(gettext("Strategy"), "n", *labels)
    yield _figures(Table("chunks", gettext("Means"), columns, tuple(rows), ()))
    yield reading
    yield _settings(head)


def _json(head: Head, figures: Figures, reading: Section) -> Iterator[Section]:
    """Yield the sections on JSON answers: gate, fields, failures, reading, provenance."""
    subset, stopped, dev_means = head["subset"], head["stopped"], head["part_means"]["subset"]
    sets = {gettext("Dev set"): subset} if subset else {}
    means = {gettext("Dev set"): dev_means} if dev_means else {}
    if not stopped:
        sets[gettext("All")] = head["summary"]
        means[gettext("All")] = {figure["name"]: figure["value"] for figure in figures}
    gate = head["gate"]
    deciding = subset or head["summary"]
    sentences = [
        gettext("Gate passed") if deciding["gate_passed"] else gettext("Gate not passed"),
        gettext(
            "It asks for a mean score of at least %(average)s and a schema pass rate of at least "
            "%(rate)s.",
            average=notation.number(gate["min_average"]),
            rate=notation.number(gate["min_pass_rate"]),
        ),
    ]
    if stopped:
        sentences.append(gettext("The dev set did not pass, so the rest was not scored."))
    yield Section("gate", gettext("Gate"), tuple(sentences), (_averages(sets),))
    rows = []
    for name, weight in WEIGHTS.items():
        points = float(100 * weight)
        values = (_exact(of_set[name]) for of_set in means.values())
        rows.append((word(name), Cell(notation.number(points), (points,)), *values))
    notes = (
        gettext("Means from 0 to 1; an output that failed has 0 in every field."),
        *(too_long(name, n) for name, n in sorted(head["too_long"].items())),
    )
    columns = _columns(gettext("Field"), gettext("Points"), *means)
    yield _figures(Table("fields", gettext("Fields"), columns, tuple(rows), notes))
    most = sorted(head["reasons"].items(), key=lambda item: -item[1])
    failures = tuple(f"{reason}: {n}" for reason, n in most)
    yield Section("failures", gettext("Failed outputs"), failures, ())
    yield reading
    sources = tuple(f"{name}: {value}" for name, value in head["provenance"].items())
    yield Section("provenance", gettext("Where the answers come from"), sources, ())


def _averages(sets: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return the averages of the dev set and of all answers, and whether each passes the gate."""
    measures, parts = registry.JSON_MEASURES, sets.values()
    names = ("eval_score_avg", "schema_pass_rate", "gate_passed")
    average, rate, gate = (word(gettext(measures[name].label)) for name in names)
    passed, not_passed = gettext("passed"), gettext("not passed")
    score = measures["eval_score_avg"].unit
    rows = (
        (word(gettext("Answers")), *(whole_number(part["count"]) for part in parts)),
        (average, *(_exact(part["eval_score_avg"], score) for part in parts)),
        (rate, *(_exact(part["schema_pass_rate"]) for part in parts)),
        (gate, *(word(passed if part["gate_passed"] else not_passed) for part in parts)),
    )
    columns = _columns(gettext("Figure"), *sets)
    return Table("averages", gettext("Averages"), columns, rows, ())


def _figures(table: Table) -> Section:
    return Section("figures", gettext("Figures"), (), (table,))


def _settings(head: Head, *sentences: str) -> Section:
    if head.get("first_n") is not None:
        n = head["first_n"]
        sentences += (gettext("Only the first %(n)s rows were scored (--n).", n=n),)
    if head.get("left_out"):
        sentences += (gettext("Lines left out: %(n)s.", n=head["left_out"]),)
    return Section("settings", gettext("Settings"), sentences, ())


def _columns(first: str, *others: str) -> tuple[Column, ...]:
    return (Column(first), *map(numbers, others))


def _answer_table(name: str, title: str, figures: Figures) -> Table:
    columns = _columns(gettext("Figure"), gettext("Value"), "n")
    rows = tuple(_answer_row(figure["name"], figure["value"], figure["n"]) for figure in figures)
    reasons = {figure["why"] for figure in figures}
    notes = tuple(f"-: {gettext(WHY_UNDEFINED[why])}" for why in WhyUndefined if why in reasons)
    return Table(name, title, columns, rows, notes)


def _answer_row(name: str, value: float | None, n: int) -> tuple[Cell, ...]:
    label, unit = gettext("Faithfulness (judge)"), notation.RATIO
    if name != JUDGED:
        measure = registry.ANSWER_MEASURES[name]
        label, unit = gettext(measure.label), measure.unit
    cell = _exact(value)
    if value is not None and unit != notation.RATIO:
        cell = Cell(notation.number(round(value, 1)), (value,))
    return word(label), cell, whole_number(n)


def _exact(value: float | None, unit: str = notation.RATIO) -> Cell:
    return Cell(notation.four(value, unit), (value,))
