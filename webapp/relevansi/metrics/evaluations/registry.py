"""The meaning of every figure of the automatic evaluations, and which to read together.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import (
    Measure,
    MeasureGroup,
    ReadTogether,
    Unit,
    by_name,
    explained,
)
from relevansi.metrics.runs.provenance import HYNDMAN

ANSWER_METHOD = "Metrics of answers with citations, 1-9"
CHUNK_METHOD = "Explanation of Metrics (IoU, Recall, Precision, Precision Omega, F1-score)"
JSON_METHOD = "Eval JSON v2, 3-5"
SQUAD = (
    "Rajpurkar, P., et al. (2016). SQuAD: 100,000+ Questions for Machine Comprehension of Text. "
    "EMNLP, 2383-2392."
)

ALL_ROWS = mark("all rows that could be read")
ROWS_WITH_COSINES = mark("answers whose claims could be compared, and answers without claims")
ROWS_WITH_GOLD = mark("answers that have a gold answer")
ROWS_WITH_USAGE = mark("answers that state their tokens")
ROWS_WITH_LATENCY = mark("answers that state their latency")
ALL_ANSWERS = mark("all answers, failures as 0")
NORMALISED = mark(
    "Lower case, no punctuation, no a, an, the; citations are left out unless they are kept."
)
NO_EMBEDDER = mark("No value without cosines in the file and without an embedder.")
ZERO_DENOMINATOR = mark("0 where the denominator is 0.")
SETS_OF_WORDS = mark("Words are split at blanks; case and punctuation count, repetitions do not.")
FAILED_IS_0 = mark("0 for an output that is not the object that was asked for.")
SOFT_MATCH = mark(
    "Two texts match without their blanks: one contains the other, or the Jaccard of their "
    "character pairs is at least 0.72; an empty text matches nothing."
)

_answers = partial(explained, source=ANSWER_METHOD)


def _chunks(name: str, label: str, meaning: str, formula: str) -> Measure:
    cases = (SETS_OF_WORDS, ZERO_DENOMINATOR)
    return explained(name, label, meaning, formula, ALL_ROWS, *cases, source=CHUNK_METHOD)


def _json(
    name: str, label: str, meaning: str, formula: str, *cases: str, unit: Unit = "ratio"
) -> Measure:
    texts = (name, label, meaning, formula, ALL_ANSWERS, *cases, FAILED_IS_0)
    return explained(*texts, source=JSON_METHOD, unit=unit)


ANSWER_MEASURES = by_name(
    _answers(
        "count",
        "Count (N)",
        mark("Number of answers that were scored."),
        "",
        "",
        mark("Few answers vary much; be careful with conclusions."),
        unit="count",
    ),
    _answers(
        "avg_faithfulness",
        "Avg Faithfulness",
        mark("How far the answers keep to their contexts: the fallback, derived from overlap."),
        mark("mean of min(1, 0.6 + 0.4 × overlap)"),
        ROWS_WITH_COSINES,
        mark("A fallback that does not read the answer; a judge's figure is shown beside it."),
        mark("Never below 0.6."),
        NO_EMBEDDER,
    ),
    _answers(
        "avg_overlap",
        "Avg Overlap",
        mark("How many of the claims their citation supports."),
        mark("mean of supported claims / claims"),
        ROWS_WITH_COSINES,
        mark(
            "A claim is supported when it cites exactly one source, which is among the contexts, "
            "and their cosine is at least tau_sim."
        ),
        mark("0 for an answer without claims."),
        NO_EMBEDDER,
    ),
    _answers(
        "avg_em",
        "Avg EM",
        mark("How many answers are the gold answer word for word."),
        mark("mean of 1 or 0, after normalising"),
        ROWS_WITH_GOLD,
        NORMALISED,
        mark("1 when answer and gold are both empty, 0 when one is."),
        source=SQUAD,
    ),
    _answers(
        "avg_f1",
        "Avg F1",
        mark("How many words answer and gold answer share."),
        mark("mean of 2 × words in common / (words of the answer + words of gold)"),
        ROWS_WITH_GOLD,
        NORMALISED,
        mark("1 when answer and gold are both empty, 0 when one is."),
        source=SQUAD,
    ),
    _answers(
        "abstain_rate",
        "Abstain Rate",
        mark("How many questions the system declined to answer."),
        mark("answers marked ABSTAIN or saying only that they do not know / answers"),
        ALL_ROWS,
    ),
    _answers(
        "avg_total_tokens",
        "Avg Total Tokens",
        mark("Tokens per question, in and out, over all calls: what it costs."),
        mark("mean of prompt tokens + completion tokens"),
        ROWS_WITH_USAGE,
        unit="tokens",
    ),
    _answers(
        "avg_prompt_tokens",
        "Avg Prompt Tokens",
        mark("Tokens per question that were put in, over all calls."),
        mark("mean of prompt tokens"),
        ROWS_WITH_USAGE,
        unit="tokens",
    ),
    _answers(
        "avg_completion_tokens",
        "Avg Completion Tokens",
        mark("Tokens per question that came back, over all calls."),
        mark("mean of completion tokens"),
        ROWS_WITH_USAGE,
        unit="tokens",
    ),
    _answers(
        "p50_latency_ms",
        "P50 Latency (ms)",
        mark("Half of the answers came at least this fast."),
        mark("value at position 0.5 × (n − 1) of the sorted latencies, interpolated"),
        ROWS_WITH_LATENCY,
        source=HYNDMAN,
        unit="ms",
    ),
    _answers(
        "p95_latency_ms",
        "P95 Latency (ms)",
        mark("One answer in twenty took longer than this."),
        mark("value at position 0.95 × (n − 1) of the sorted latencies, interpolated"),
        ROWS_WITH_LATENCY,
        source=HYNDMAN,
        unit="ms",
    ),
    _answers(
        "idk_with_citation_count",
        "IDK+Cit Count",
        mark("Sentences that say they do not know and yet cite a source."),
        mark("number of such sentences"),
        ALL_ROWS,
        mark("It must be 0: above that, overlap and faithfulness may be too high."),
        unit="count",
    ),
)

ANSWER_MAIN = (
    "count",
    "avg_faithfulness",
    "avg_overlap",
    "avg_f1",
    "avg_total_tokens",
    "p50_latency_ms",
    "abstain_rate",
    "idk_with_citation_count",
)
"""The figures of the main table; the others are in the appendix."""

ANSWER_RULES = (
    mark("IDK+Cit Count is 0, strictly."),
    mark(
        "tau_sim of about 0.6 to 0.7 for vectors of a sentence model; a lower one credits claims "
        "that nothing supports."
    ),
    mark(
        "max_output_tokens from 128 to 256, temperature 0 and top_p 0 for a baseline that can be "
        "repeated."
    ),
    mark("Avg Total Tokens below about 800 to 1200, as long as the answers stay reliable."),
)
"""Rules of thumb; what is usual depends on the data."""

ANSWER_ADVICE = (
    ReadTogether(
        ("avg_faithfulness", "avg_overlap", "avg_f1", "avg_em"),
        mark("high and low"),
        mark(
            "the answers keep to the evidence but differ from the gold answers, perhaps only in "
            "phrase or format."
        ),
    ),
    ReadTogether(
        ("avg_faithfulness", "avg_overlap", "avg_f1", "avg_em"),
        mark("low and low"),
        mark("the answers are probably made up or against the evidence, and wrong."),
    ),
    ReadTogether(
        ("avg_total_tokens", "p50_latency_ms", "abstain_rate"),
        mark("lower tokens and latency, somewhat more abstentions"),
        mark(
            "a good gate: cheaper and faster while faithfulness and overlap rise; abstentions "
            "rise enough, not extremely."
        ),
    ),
    ReadTogether(
        ("idk_with_citation_count", "avg_overlap", "avg_faithfulness"),
        mark("above 0"),
        mark("the contract of the prompt is broken: overlap and faithfulness may be too high."),
    ),
)

CHUNK_MEASURES = by_name(
    _chunks(
        "iou",
        "IoU",
        mark("How alike the retrieved words and the expected ones are."),
        mark("words in common / words of either"),
    ),
    _chunks(
        "recall",
        "Recall",
        mark("How much of the expected answer was retrieved."),
        mark("words in common / words expected"),
    ),
    _chunks(
        "precision",
        "Precision",
        mark("How much of what was retrieved was expected."),
        mark("words in common / words retrieved"),
    ),
    _chunks(
        "precision_omega",
        "Precision Omega",
        mark("Precision weighted by how complete and how alike the retrieved words are."),
        mark("precision × (IoU + recall) / 2"),
    ),
    _chunks(
        "f1",
        "F1-score",
        mark("Precision and recall in one number, to compare strategies by."),
        mark("2 × precision × recall / (precision + recall)"),
    ),
)

CHUNK_ADVICE = (
    ReadTogether(
        ("recall", "precision"),
        mark("high and low"),
        mark("the answer is in the chunks, with much beside it: chunks too large or too many."),
    ),
    ReadTogether(
        ("precision", "recall"),
        mark("high and low"),
        mark("what was retrieved fits, but much is missing: chunks too small or too few."),
    ),
)

JSON_MEASURES = by_name(
    _json(
        "eval_score_avg",
        mark("Mean score"),
        mark("How near the answers come to the expected ones, from 0 to 100."),
        mark(
            "mean of 100 × (0.1 for each class + 0.3 description + 0.2 evidence + 0.1 questions "
            "+ 0.1 grounding)"
        ),
        unit="score 0-100",
    ),
    explained(
        "schema_pass_rate",
        mark("Schema pass rate"),
        mark("How many outputs are the JSON object that was asked for."),
        mark("outputs that are one JSON object with all seven fields / outputs"),
        mark("all answers"),
        mark("Text around the object or a code fence fails it."),
        source=JSON_METHOD,
    ),
    _json(
        "classes",
        mark("Classes"),
        mark("Whether audience, topic and sub-topic are the expected ones."),
        mark("1 if the texts match, else 0; each by itself"),
        SOFT_MATCH,
    ),
    _json(
        "detailed_description",
        mark("Description"),
        mark("How well the points of the description cover the expected ones."),
        mark("2 × pairs / (expected points + given points looked at)"),
        mark("Only the first 12 given points are looked at."),
        mark("1 when both lists are empty, 0 when one is."),
        SOFT_MATCH,
    ),
    _json(
        "original_evidence",
        mark("Evidence"),
        mark("Whether the quoted evidence has the expected keywords and some length."),
        mark("min(1, keywords found / 8) × min(1, characters / 40)"),
        mark(
            "Keywords: English words of 3 characters or more and pairs of Chinese characters, "
            "the first 30 expected."
        ),
    ),
    _json(
        "predicted_questions",
        mark("Predicted questions"),
        mark("How well the predicted questions cover the expected ones."),
        mark("2 × pairs / (expected questions + given questions looked at)"),
        mark("Only the first 10 given questions are looked at."),
        mark("1 when both lists are empty, 0 when one is."),
        SOFT_MATCH,
    ),
    _json(
        "grounding",
        mark("Grounding"),
        mark("Whether the references lead back to the contexts."),
        mark("references whose file and an anchor are in the contexts / references"),
        mark("The first 12 entries, 6 references each, 6 anchors each are looked at."),
        mark("0 without references; an empty anchor matches nothing."),
    ),
    explained(
        "gate_passed",
        mark("Gate"),
        mark("Whether the answers are good enough to go on to the whole set."),
        mark("mean score of at least 95 and schema pass rate of at least 0.98"),
        mark("all answers"),
        mark("Both limits can be set."),
        source=JSON_METHOD,
        unit="text",
    ),
)

JSON_ADVICE = (
    ReadTogether(
        ("schema_pass_rate", "eval_score_avg"),
        mark("low and low"),
        mark("the form fails before the content does: mend the output format first."),
    ),
    ReadTogether(
        ("detailed_description", "grounding"),
        mark("high and low"),
        mark("the points are right, but their sources cannot be followed."),
    ),
)

GROUPS = (
    MeasureGroup("answers", mark("Cited answers"), ANSWER_MEASURES, 9, ANSWER_ADVICE, ANSWER_RULES),
    MeasureGroup("chunks", mark("Retrieved chunks"), CHUNK_MEASURES, 10, CHUNK_ADVICE),
    MeasureGroup("json-v2", mark("JSON answers"), JSON_MEASURES, 11, JSON_ADVICE),
)

EVALUATIONS: Mapping[str, MeasureGroup] = MappingProxyType({group.name: group for group in GROUPS})
"""The automatic evaluations by the name of their command."""
