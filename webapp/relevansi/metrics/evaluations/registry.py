"""The meaning of every figure of the automatic evaluations: ``meanings.toml`` beside this file."""

from __future__ import annotations

from relevansi.metrics.judging.registry import read_groups

EVALUATIONS = read_groups("evaluations")
"""The automatic evaluations by the name of their command."""
ANSWER_MEASURES = EVALUATIONS["answers"].measures
CHUNK_MEASURES = EVALUATIONS["chunks"].measures
JSON_MEASURES = EVALUATIONS["json-v2"].measures

ANSWER_MAIN = (
    *("count", "avg_faithfulness", "avg_overlap", "avg_f1"),
    *("avg_total_tokens", "p50_latency_ms", "abstain_rate", "idk_with_citation_count"),
)
"""The figures of the main table; the others are in the appendix."""
