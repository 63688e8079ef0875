"""The results of the automatic evaluations as plain values, with the keys of the method.

Undefined is null. Figures are unrounded.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import TracebackType
from typing import IO, Any, Self

from msgspec.structs import asdict

from webapp.exporters.frame.csv_cells import csv_bytes
from webapp.metrics.agreement.agreement import BinaryAgreement, NoShare
from webapp.metrics.evaluations.answers import AnswerFigure, AnswerScale, AnswerScore, AnswerSummary
from webapp.metrics.evaluations.chunks import FIGURES, ChunkMeans, ChunkScore, ChunkSummary
from webapp.metrics.evaluations.json_answers import JsonScore, JsonSummary
from webapp.metrics.evaluations.rank_correlation import Correlation, RankCorrelation

ANSWER_ITEM = (
    "id",
    "sentences",
    "claim_sentences",
    "supported",
    "overlap",
    "faithfulness",
    "em",
    "f1",
    "abstain",
    "total_tokens",
    "latency_ms",
    "idk_with_citation",
)
CHUNK_ITEM = ("id", "strategy", *FIGURES)
JSON_ITEM = (
    "id",
    "schema_ok",
    "reason",
    "score",
    "target_audience",
    "main_topic",
    "sub_topic",
    "detailed_description",
    "original_evidence",
    "predicted_questions",
    "grounding",
)


def answer_item(score: AnswerScore) -> dict[str, Any]:
    """One cited answer; a judge's faithfulness is beside the fallback where there is one."""
    gold = score.gold
    values = (
        score.row.row_id,
        len(score.verdicts),
        score.claim_sentences,
        score.supported,
        score.overlap,
        score.faithfulness,
        None if gold is None else gold.em,
        None if gold is None else gold.f1,
        score.abstain,
        score.total_tokens,
        score.row.latency_ms,
        score.idk_with_citation,
    )
    item: dict[str, Any] = dict(zip(ANSWER_ITEM, values, strict=True))
    if score.row.faithfulness_judge is not None:
        item["faithfulness_judge"] = score.row.faithfulness_judge
    return item


def answer_summary(summary: AnswerSummary) -> dict[str, Any]:
    """The figures over all answers; ``avg_faithfulness_judge`` only where a judge spoke."""
    found: dict[str, Any] = {name: figure.value for name, figure in summary.figures().items()}
    if summary.judged.n:
        found["avg_faithfulness_judge"] = summary.judged.value
    return found


def why_undefined(figures: Mapping[str, AnswerFigure]) -> dict[str, str]:
    """The reason by name of every figure that has no value."""
    return {name: str(f.why_undefined) for name, f in figures.items() if f.why_undefined}


def chunk_item(score: ChunkScore) -> dict[str, Any]:
    """One row of chunks."""
    figures = {name: getattr(score, name) for name in FIGURES}
    return {"id": score.row.row_id, "strategy": score.row.strategy, **figures}


def chunk_means(means: ChunkMeans) -> dict[str, Any]:
    """The number of rows and the mean of each figure."""
    return {"count": means.count, **means.figures()}


def json_item(score: JsonScore) -> dict[str, Any]:
    """One JSON answer: whether it follows the schema, its score and its parts."""
    parts = {name: float(part) for name, part in score.parts.items()}
    reason = None if score.reason is None else str(score.reason)
    known = {"id": score.question.row_id, "schema_ok": score.schema_ok, "reason": reason}
    found: dict[str, Any] = {**known, "score": float(score.score), **parts}
    return {name: found[name] for name in JSON_ITEM}


def json_summary(summary: JsonSummary) -> dict[str, Any]:
    """The averages over all answers, and whether they pass the gate."""
    return {
        "count": summary.count,
        "eval_score_avg": number(summary.average),
        "schema_pass_rate": number(summary.schema_pass_rate),
        "gate_passed": summary.gate_passed,
    }


def answer_figures(summary: AnswerSummary) -> list[dict[str, Any]]:
    """The figures over all answers with their n, a judge's faithfulness beside the fallback."""
    found = []
    for name, one in summary.figures().items():
        found.append(_figure(name, one.value, one.n, one.why_undefined))
        if name == "avg_faithfulness" and summary.judged.n:
            judged = summary.judged
            found.append(_figure("avg_faithfulness_judge", judged.value, judged.n))
    return found


def chunk_figures(summary: ChunkSummary) -> list[dict[str, Any]]:
    """The means over all rows with their n."""
    means = summary.overall
    return [_figure(name, value, means.count) for name, value in means.figures().items()]


def json_figures(summary: JsonSummary) -> list[dict[str, Any]]:
    """The averages over all answers with their n, and the mean of every part."""
    values: dict[str, Fraction | None] = {
        "eval_score_avg": summary.average,
        "schema_pass_rate": summary.schema_pass_rate,
        **summary.part_means,
    }
    return [_figure(name, number(value), summary.count) for name, value in values.items()]


def answers_head(
    summary: AnswerSummary, scale: AnswerScale, *, first: int | None, left_out: int
) -> dict[str, Any]:
    """The keys above the items of cited answers."""
    return {
        "summary": answer_summary(summary),
        "embedder": summary.embedder(scale),
        "tau_sim": scale.tau_sim,
        "keep_citations": scale.keep_citations,
        "faithfulness": "fallback: min(1, 0.6 + 0.4 overlap)",
        "settings": {name: asdict(stated) for name, stated in summary.settings.items()},
        "first_n": first,
        "left_out": left_out,
        "why_undefined": why_undefined(summary.figures()),
    }


def chunks_head(summary: ChunkSummary, *, first: int | None, left_out: int) -> dict[str, Any]:
    """The keys above the items of retrieved chunks."""
    strategies = summary.strategies if set(summary.strategies) != {None} else {}
    return {
        "summary": chunk_means(summary.overall),
        "strategies": {name or "": chunk_means(part) for name, part in strategies.items()},
        "first_n": first,
        "left_out": left_out,
    }


def json_head(
    provenance: Mapping[str, str],
    summary: JsonSummary,
    subset: JsonSummary | None = None,
    *,
    stopped: bool = False,
) -> dict[str, Any]:
    """The keys above the items of JSON answers.

    ``stopped`` says that the dev set did not pass the gate and is all that was scored.
    """
    return {
        "provenance": dict(provenance),
        "gate": {
            "min_average": float(summary.gate.min_average),
            "min_pass_rate": float(summary.gate.min_pass_rate),
        },
        "subset": json_summary(subset) if subset else None,
        "stopped": stopped,
        "summary": json_summary(summary),
        "part_means": {
            "subset": _part_means(subset) if subset else None,
            "all": _part_means(summary),
        },
        "reasons": dict(summary.reasons),
        "too_long": dict(summary.too_long),
    }


def number(value: Fraction | None) -> float | None:
    """`value` as JSON has it."""
    return None if value is None else float(value)


def _figure(name: str, value: float | None, n: int, why: object = None) -> dict[str, Any]:
    return {"name": name, "value": value, "n": n, "why": str(why) if why else None}


def _part_means(summary: JsonSummary) -> dict[str, float | None]:
    return {name: number(value) for name, value in summary.part_means.items()}


Item = Mapping[str, Any]


def json_entry(item: Item, *, is_first: bool) -> bytes:
    """One item of the list as the file has it, after the separator from the item before it."""
    start = "\n  " if is_first else ",\n  "
    return (start + json.dumps(item, ensure_ascii=False)).encode()


def json_start(head: Item) -> bytes:
    """The start of the file above the items: the keys of `head`, and the list opened."""
    text = json.dumps(head, ensure_ascii=False, indent=1)
    return text.removesuffix("\n}").encode() + b',\n "items": ['


def json_end(n: int) -> bytes:
    """The end of the file, which closes the list of `n` items."""
    return b"\n ]\n}\n" if n else b"]\n}\n"


def csv_line(item: Item, columns: Sequence[str]) -> bytes:
    """One item as a line of the table."""
    return csv_bytes([[item.get(column) for column in columns]])


def json_file(head: Item, items: Iterable[Item]) -> Iterator[bytes]:
    """The whole JSON file, piece by piece."""
    yield json_start(head)
    n = 0
    for item in items:
        yield json_entry(item, is_first=not n)
        n += 1
    yield json_end(n)


def csv_file(columns: Sequence[str], items: Iterable[Item]) -> Iterator[bytes]:
    """The whole table, header first, line by line."""
    yield csv_bytes([columns])
    for item in items:
        yield csv_line(item, columns)


class WaitingRows:
    """Rows in the order in which they came, as often as they are wanted; ``n`` counts them.

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        wrong: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one row in."""
        self._file.write(json.dumps(row).encode() + b"\n")
        self.n += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        return (json.loads(line) for line in self._file)


def binary_json(found: BinaryAgreement) -> dict[str, Any]:
    """The confusion table of machine and people, and the figures that follow from it."""
    kappa = found.kappa
    why = {"cohen_kappa": kappa.why_undefined, "precision": found.precision, "recall": found.recall}
    return {
        "n": found.n,
        "both": found.both,
        "machine_only": found.machine_only,
        "people_only": found.people_only,
        "neither": found.neither,
        "agreed": found.agreed,
        "cohen_kappa": {"value": kappa.value, "lower": kappa.lower, "upper": kappa.upper},
        "precision": None if isinstance(found.precision, NoShare) else found.precision,
        "recall": None if isinstance(found.recall, NoShare) else found.recall,
        "why_undefined": {name: str(one) for name, one in why.items() if isinstance(one, str)},
    }


def correlation_json(found: RankCorrelation) -> dict[str, Any]:
    """Both rank correlations with their intervals and n."""
    why = found.why_undefined
    return {
        "n": found.n,
        "spearman": _interval(found.spearman),
        "kendall_tau_b": _interval(found.kendall),
        "why_undefined": None if why is None else str(why),
    }


def _interval(found: Correlation) -> dict[str, float | None]:
    return {"value": found.value, "lower": found.lower, "upper": found.upper}
