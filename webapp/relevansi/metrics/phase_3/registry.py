"""The meaning of the numbers about people: users of phase 3, and people beside machines.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import MeasureGroup, ReadTogether, by_name, explained
from relevansi.metrics.runs.provenance import HYNDMAN

BROOKE = (
    'Brooke, J. (1996). SUS: A "quick and dirty" usability scale. In: Usability Evaluation in '
    "Industry, 189-194."
)
BANGOR = (
    "Bangor, A., Kortum, P., & Miller, J. (2009). Determining What Individual SUS Scores Mean. "
    "Journal of Usability Studies 4(3), 114-123."
)
COCHRAN = "Cochran, W. G. (1977). Sampling Techniques, 3rd edition. Chapter 6."
COHEN = (
    "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and "
    "Psychological Measurement 20, 37-46."
)
ANSWERS_TIMED = mark("answers whose duration is known")
JUDGED_BY_BOTH = mark("verdicts that both the machine and a person gave")
ONE_VALUE = mark("No value where one side gives everything the same verdict.")

USER_MEASURES = by_name(
    explained(
        "sus",
        mark("Usability (SUS)"),
        mark("How usable the chatbot was to those who used it, by ten statements."),
        mark("2.5 × (sum of (answer − 1) over odd items + sum of (5 − answer) over even items)"),
        mark("participants who answered all ten items"),
        mark("A questionnaire with an item left out has no score."),
        mark("Its interval is Student's t interval over participants, cut at 0 and 100."),
        source=f"{BROOKE} {BANGOR}",
        unit="score 0-100",
        reading=mark(
            "It is not a percentage. As a rule of thumb 68 is the middle of many systems, from "
            "about 71 people call it good, from about 85 excellent."
        ),
    ),
    explained(
        "participant_interval",
        mark("Interval over participants"),
        mark("How far a figure of phase 3 would move had other people taken part."),
        mark(
            "Wilson's interval with the variance between participants of M + (t − n M) k / N: t "
            "the total and n the number of a participant's values, M their mean over all N, k "
            "participants"
        ),
        mark("participants with a value"),
        mark("None for fewer than two participants."),
        mark("Ten people with ten questions each are ten people, not a hundred questions."),
        source=COCHRAN,
        unit="difference",
    ),
    explained(
        "latency_p50",
        mark("Median response time"),
        mark("The time within which half of the answers came."),
        mark("the 50th percentile, by straight line between two durations"),
        ANSWERS_TIMED,
        source=HYNDMAN,
        unit="ms",
    ),
    explained(
        "latency_p95",
        mark("Slow response time"),
        mark("The time within which 95 of 100 answers came."),
        mark("the 95th percentile, by straight line between two durations"),
        ANSWERS_TIMED,
        source=HYNDMAN,
        unit="ms",
        reading=mark("What the most patient users wait for: read it with the median."),
    ),
    explained(
        "latency_mean",
        mark("Mean response time"),
        mark("The time an answer took on average."),
        mark("sum of the durations / answers"),
        ANSWERS_TIMED,
        unit="ms",
        reading=mark("A few slow answers lift it: far above the median, they are few and slow."),
    ),
)
"""The numbers about users and their waiting."""

MACHINE_MEASURES = by_name(
    explained(
        "machine_kappa",
        mark("Kappa of machine and people"),
        mark("How far a machine's verdicts agree with people's, beyond chance."),
        mark("(Pa − Pe) / (1 − Pe)"),
        JUDGED_BY_BOTH,
        ONE_VALUE,
        source=COHEN,
    ),
    explained(
        "machine_precision",
        mark("Precision of the machine"),
        mark("How much of what the machine passes people pass too."),
        mark("passed by both / passed by the machine"),
        mark("what the machine passed and a person judged"),
        mark("No value where the machine passed nothing."),
        source="Manning, C. D., Raghavan, P., & Schütze, H. (2008), chapter 8.",
    ),
    explained(
        "machine_recall",
        mark("Recall of the machine"),
        mark("How much of what people pass the machine passes too."),
        mark("passed by both / passed by people"),
        mark("what people passed and the machine judged"),
        mark("No value where people passed nothing."),
        source="Manning, C. D., Raghavan, P., & Schütze, H. (2008), chapter 8.",
    ),
)
"""How well an automatic figure represents people's judgments."""

MACHINE_ADVICE = (
    ReadTogether(
        ("machine_precision", "machine_recall"),
        mark("high and low"),
        mark("the machine is strict: what it passes is good, but it fails much that is."),
    ),
    ReadTogether(
        ("machine_precision", "machine_recall"),
        mark("low and high"),
        mark("the machine is lenient: it passes nearly everything."),
    ),
)
"""How to read a machine's two rates."""

GROUPS = (
    MeasureGroup("users", mark("Users and their waiting"), USER_MEASURES, place=6),
    MeasureGroup(
        "machines", mark("People beside machines"), MACHINE_MEASURES, advice=MACHINE_ADVICE, place=7
    ),
)
