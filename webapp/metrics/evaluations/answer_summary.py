"""The figures of a whole file of cited answers, taken in one by one."""

from __future__ import annotations

from msgspec import Struct, field

from webapp.metrics.evaluations.answers import (
    GIVEN_SIMILARITIES,
    AnswerScale,
    AnswerScore,
    WhyUndefined,
)
from webapp.metrics.judging.figures import Mean, Percentiles


class AnswerFigure(Struct, frozen=True):
    """One figure of the summary with the number of answers it rests on."""

    value: float | None
    n: int
    why_undefined: WhyUndefined | None = None


_MEANS = {
    "avg_faithfulness": WhyUndefined.NO_EMBEDDER,
    "avg_overlap": WhyUndefined.NO_EMBEDDER,
    "avg_em": WhyUndefined.NO_GOLD,
    "avg_f1": WhyUndefined.NO_GOLD,
    "abstain_rate": WhyUndefined.NO_ROW,
    "avg_total_tokens": WhyUndefined.NO_USAGE,
    "avg_prompt_tokens": WhyUndefined.NO_USAGE,
    "avg_completion_tokens": WhyUndefined.NO_USAGE,
}
"""The means by name, with why one has no value although there are answers."""


class StatedSetting(Struct, frozen=True):
    """The least and the greatest value that answers state of a setting, and how many do."""

    lowest: float
    highest: float
    n: int


class AnswerSummary(Struct):
    """The figures over every answer added; order does not matter.

    ``n_unmeasured`` counts answers with claims but without cosines. Where no answer with
    claims was measured while some could not be, overlap and faithfulness are undefined:
    else they would be the figures of the answers without claims, whose overlap is 0 by definition.
    """

    count: int = 0
    idk_with_citation_count: int = 0
    n_unmeasured: int = 0
    n_measured: int = 0
    n_given: int = 0
    judged: Mean = field(default_factory=Mean)
    latencies: Percentiles = field(default_factory=Percentiles)
    settings: dict[str, StatedSetting] = field(default_factory=dict)
    _means: dict[str, Mean] = field(default_factory=lambda: {name: Mean() for name in _MEANS})

    def add(self, score: AnswerScore) -> None:
        """Take one answer in."""
        self.count += 1
        self.idk_with_citation_count += score.idk_with_citation
        self.n_unmeasured += score.overlap is None
        self.n_measured += score.overlap is not None and score.claim_sentences > 0
        self.n_given += score.row.claim_similarities is not None
        self.judged.add(score.row.faithfulness_judge)
        self.latencies.add(score.row.latency_ms)
        for name, setting in score.row.settings.items():
            self._state(name, setting)
        values = (
            score.faithfulness,
            score.overlap,
            None if score.gold is None else score.gold.em,
            None if score.gold is None else score.gold.f1,
            score.abstain,
            score.total_tokens,
            score.prompt_tokens,
            score.completion_tokens,
        )
        for mean, value in zip(self._means.values(), values, strict=True):
            mean.add(value)

    def figures(self) -> dict[str, AnswerFigure]:
        """Every figure by name in the order in which they are shown, count first."""
        found = {"count": AnswerFigure(self.count, self.count)}
        found |= {name: self._mean(name) for name in _MEANS}
        for name, value in zip(
            ("p50_latency_ms", "p95_latency_ms"), self.latencies.at(0.5, 0.95), strict=True
        ):
            found[name] = self._figure(value, self.latencies.n, WhyUndefined.NO_LATENCY)
        found["idk_with_citation_count"] = AnswerFigure(self.idk_with_citation_count, self.count)
        return found

    def embedder(self, scale: AnswerScale) -> str | None:
        """The source of the cosines, ``None`` when there were none."""
        names = [GIVEN_SIMILARITIES] if self.n_given else []
        names += [scale.embedder.name] if scale.embedder else []
        return " + ".join(names) or None

    def _state(self, name: str, value: float) -> None:
        known = self.settings.get(name) or StatedSetting(value, value, 0)
        self.settings[name] = StatedSetting(
            min(known.lowest, value), max(known.highest, value), known.n + 1
        )

    def _mean(self, name: str) -> AnswerFigure:
        mean, why = self._means[name], _MEANS[name]
        biased = why is WhyUndefined.NO_EMBEDDER and self.n_unmeasured and not self.n_measured
        return AnswerFigure(None, 0, why) if biased else self._figure(mean.value, mean.n, why)

    def _figure(self, value: float | None, n: int, why: WhyUndefined) -> AnswerFigure:
        if value is not None:
            return AnswerFigure(value, n)
        return AnswerFigure(None, n, why if self.count else WhyUndefined.NO_ROW)
