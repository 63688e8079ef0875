"""The meaning of every figure and column: one place for pages, command line, exports and docs.

All texts are English message ids, to be passed through ``gettext`` where they are shown;
citations and names of columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from webapp.i18n import mark

Unit = Literal[
    "ratio",
    "grade 0-5",
    "score 0-100",
    "coefficient",
    "difference",
    "probability",
    "count",
    "rank",
    "tokens",
    "ms",
    "text",
]

METHOD = "Evaluation Methodology for RAG Property Chatbot (V1)"
MANNING = (
    "Manning, C. D., Raghavan, P., & Schütze, H. (2008). Introduction to Information Retrieval. "
    "Cambridge University Press. Chapter 8: Evaluation in Information Retrieval."
)
VOORHEES_1999 = (
    "Voorhees, E. M. (1999). The TREC-8 Question Answering Track Report. Proceedings of the 8th "
    "Text REtrieval Conference (TREC-8). NIST Special Publication. pp. 77-82."
)
VOORHEES_2002 = (
    "Voorhees, E. M. (2002). The philosophy of information retrieval evaluation. CLEF Workshop on "
    "Cross-Language Information Retrieval and Evaluation. Springer."
)
CRASWELL = (
    "Craswell, N. (2009). Mean Reciprocal Rank. In: Encyclopedia of Database Systems. Springer. "
    "https://doi.org/10.1007/978-0-387-39940-9_488"
)
CHEN_YIH = "Chen, D., & Yih, W. (2020). Open-Domain Question Answering. ACL Tutorial."
REFERENCES = (MANNING, VOORHEES_2002, VOORHEES_1999, CRASWELL, CHEN_YIH)
"""The references of the method, in its order."""
TREC_EVAL = "trec_eval, measure P.5."

NO_RESULTS = mark("No value without results, or when no result is counted.")
COUNTED = mark(
    "Counted are results judged relevant or not relevant. A result marked cannot tell is counted "
    "as not relevant, or left out above and below the line: a setting of the study, named beside "
    "its figures."
)
MRR_OF_EMPTY = mark(
    "In the rated CSV the column mrr is 0 for an empty list, as in the original, even where there "
    "is truly nothing and it has no value here."
)
UNREADABLE = mark("Answers that could not be read are in no denominator.")
FAILED = mark("A failed call has no value here.")
COMPLETE_WITH_RESULTS = mark("questions with results whose rating is complete")


class Measure(Struct, frozen=True):
    """A headline figure or a column, explained.

    ``name`` is the key in ``figures()``, else the column's name. ``query_name`` is the
    figure of a query that it averages, one of ``QUERY_FIGURES``, or ``None``.
    ``denominator`` says what the headline figure is a share or mean of; it is empty for a
    column that is not a figure, as ``formula`` and ``source`` may be. ``reading`` says how to
    read the number, where a reader needs that.
    """

    name: str
    query_name: str | None
    label: str
    meaning: str
    unit: Unit = "ratio"
    formula: str = ""
    denominator: str = ""
    edge_cases: tuple[str, ...] = ()
    source: str = ""
    reading: str = ""


def explained(
    name: str,
    label: str,
    meaning: str,
    formula: str,
    denominator: str,
    *edge_cases: str,
    source: str = "",
    unit: Unit = "ratio",
    reading: str = "",
) -> Measure:
    """A measure that averages no figure of a query, its special cases one by one."""
    return Measure(
        name, None, label, meaning, unit, formula, denominator, edge_cases, source, reading
    )


def by_name(*measures: Measure) -> Mapping[str, Measure]:
    return MappingProxyType({measure.name: measure for measure in measures})


class ReadTogether(Struct, frozen=True):
    """Figures that say more side by side, with what a pattern in them means."""

    figures: tuple[str, ...]
    pattern: str
    meaning: str


class MeasureGroup(Struct, frozen=True):
    """Measures that belong together, with how to read them in pairs, and rules of thumb.

    A registry lists its own in ``GROUPS``. ``place`` is the group's place among those of all
    registries; ``name`` is for addresses.
    """

    name: str
    title: str
    measures: Mapping[str, Measure]
    place: int
    advice: tuple[ReadTogether, ...] = ()
    rules: tuple[str, ...] = ()


_FIGURES = (
    Measure(
        name="mean_precision_at_5",
        query_name="precision_at_5",
        label=mark("Precision@5"),
        meaning=mark("How much of what is shown first is relevant."),
        formula=mark("relevant / counted within ranks 1 to min(5, n)"),
        denominator=COMPLETE_WITH_RESULTS,
        edge_cases=(
            mark("A list shorter than 5 is divided by its own length."),
            COUNTED,
            NO_RESULTS,
            FAILED,
        ),
        source=MANNING,
        reading=mark(
            "0.8 means that four of the first five cards are relevant. As a rule of "
            "thumb, above 0.7 (the bound between the grades 3 and 4) most of what is seen "
            "first is relevant."
        ),
    ),
    Measure(
        name="mean_overall_precision",
        query_name="overall_precision",
        label=mark("Overall precision"),
        meaning=mark("How much of all that is shown is relevant."),
        formula=mark("relevant / counted over all n results"),
        denominator=COMPLETE_WITH_RESULTS,
        edge_cases=(COUNTED, NO_RESULTS, FAILED),
        source=MANNING,
        reading=mark(
            "Precision@5 looks at the first five cards only, overall precision at every card "
            "shown. A list of at most five cards has the same value in both."
        ),
    ),
    Measure(
        name="mrr",
        query_name="reciprocal_rank",
        label=mark("MRR"),
        meaning=mark("How early the first relevant result comes."),
        formula=mark("1 / rank of the first relevant result, over the whole list"),
        denominator=COMPLETE_WITH_RESULTS,
        edge_cases=(
            mark("0 when no result is relevant."),
            mark("A result marked cannot tell takes up its rank and is not the relevant one."),
            mark("Empty lists are not counted; MRR with false negatives counts them."),
            MRR_OF_EMPTY,
            FAILED,
        ),
        source=f"{VOORHEES_1999} {CRASWELL}",
        reading=mark(
            "1 means that the first card is always relevant, 0.5 that the first relevant "
            "card is typically the second; near 0 it comes late or not at all."
        ),
    ),
    Measure(
        name="mrr_answerable",
        query_name="answerable_reciprocal_rank",
        label=mark("MRR with false negatives"),
        meaning=mark("MRR in which an empty list that should have had results counts as 0."),
        formula=mark("1 / rank of the first relevant result; 0 for a false negative"),
        denominator=mark("questions with results whose rating is complete, and false negatives"),
        edge_cases=(
            mark("0 when no result is relevant."),
            mark("An empty list where there is truly nothing has no value."),
            MRR_OF_EMPTY,
            FAILED,
        ),
        source=f"{METHOD}, 3. {VOORHEES_1999}",
    ),
    Measure(
        name="success_rate",
        query_name="success",
        label=mark("Success rate"),
        meaning=mark("How many questions got at least one relevant result."),
        formula=mark(
            "questions with at least 1 relevant result or a correct empty list / questions"
        ),
        denominator=mark("all questions whose rating is complete"),
        edge_cases=(
            mark("An empty list is 1 where there is truly nothing, 0 where results are missing."),
            mark("A failed call is 0."),
            mark(
                "No value while none is relevant and at least one cannot be told, where those are "
                "left out."
            ),
            UNREADABLE,
        ),
        source=VOORHEES_2002,
        reading=mark(
            "It is high as soon as anything relevant is shown: read it with a precision, "
            "which says how much of what is shown is relevant."
        ),
    ),
    Measure(
        name="coverage",
        query_name=None,
        label=mark("Coverage"),
        meaning=mark("How many questions got any results, relevant or not."),
        formula=mark("questions with results / questions"),
        denominator=mark("all questions"),
        edge_cases=(
            mark("Known from the import: judging does not change it."),
            mark("A failed call counts as no results."),
            UNREADABLE,
        ),
        source=MANNING,
        reading=mark(
            "Coverage asks whether anything was shown, the success rate whether anything relevant "
            "was."
        ),
    ),
    Measure(
        name="mean_response_quality",
        query_name="response_quality",
        label=mark("Mean quality"),
        meaning=mark("How good the answers are as a whole, in the rater's eyes."),
        unit="grade 0-5",
        formula=mark("sum of the grades 0 to 5 / rated answers"),
        denominator=mark("the rated answers"),
        edge_cases=(mark("An answer without a grade is left out, not counted as 0."), UNREADABLE),
        source=f"{METHOD}, 2.2 & 6.6",
        reading=mark(
            "An opinion on a six-point scale: compare it between runs, not with the ratios."
        ),
    ),
    Measure(
        name="composite",
        query_name=None,
        label=mark("Composite"),
        meaning=mark("The weighted score of the original comparison; not a verdict by itself."),
        formula=mark("0.4 Precision@5 + 0.3 MRR + 0.2 success rate + 0.1 coverage"),
        denominator=mark("as in its four parts"),
        edge_cases=(mark("No value as soon as one of its parts has none."),),
        source=METHOD,
    ),
)

_OTHERS = (
    Measure(
        name="trec_precision_at_5",
        query_name=None,
        label="P@5 (trec_eval)",
        meaning=mark("Precision@5 as trec_eval computes it: always divided by 5."),
        formula=mark("relevant within the first 5 ranks / 5"),
        denominator=COMPLETE_WITH_RESULTS,
        edge_cases=(
            mark("A list shorter than 5 cannot reach 1."),
            mark("Results marked cannot tell count like not relevant ones."),
            NO_RESULTS,
        ),
        source=f"{MANNING} {TREC_EVAL}",
    ),
    Measure("query_id", None, mark("Query number"), mark("Number in the question set."), "count"),
    Measure("question", None, mark("Question"), mark("What the chatbot was asked."), "text"),
    Measure("category", None, mark("Category"), mark("The kind of question."), "text"),
    Measure(
        name="results_count",
        query_name=None,
        label=mark("Results"),
        meaning=mark("Number of results in the answer."),
        unit="count",
        edge_cases=(mark("A property listed twice counts at both ranks."),),
    ),
    Measure(
        name="relevant_count",
        query_name=None,
        label=mark("Relevant results"),
        meaning=mark("Number of results judged relevant."),
        unit="count",
        edge_cases=(mark("Blank while the rating of the question is not complete."),),
    ),
    Measure(
        name="first_relevant_rank",
        query_name=None,
        label=mark("First relevant rank"),
        meaning=mark("Rank of the first relevant result, counted from 1."),
        unit="rank",
        edge_cases=(mark("Blank when no result is relevant and for an empty list."),),
    ),
    Measure("notes", None, mark("Notes"), mark("What the rater wrote about the answer."), "text"),
)

HEADLINE_ADVICE = (
    ReadTogether(
        ("mean_precision_at_5", "mean_overall_precision"),
        mark("the first higher"),
        mark("the relevant results come first: the ranking works."),
    ),
    ReadTogether(
        ("mrr", "mean_precision_at_5"),
        mark("high and low"),
        mark("the first relevant card comes early, but few follow it."),
    ),
    ReadTogether(
        ("success_rate", "mean_precision_at_5"),
        mark("high and low"),
        mark("nearly every question gets something relevant, among much that is not."),
    ),
    ReadTogether(
        ("coverage", "success_rate"),
        mark("high and low"),
        mark("results are shown that do not fit: an empty list would have been the better answer."),
    ),
    ReadTogether(
        ("coverage", "success_rate"),
        mark("low and high"),
        mark("the empty lists are right: there is truly nothing."),
    ),
    ReadTogether(
        ("mrr", "mrr_answerable"),
        mark("far apart"),
        mark("many lists came back empty that should have had results."),
    ),
    ReadTogether(
        ("mean_response_quality", "mean_precision_at_5"),
        mark("low and high"),
        mark("the cards fit but the answer does not please: read the notes."),
    ),
)
"""Which headline figures to read in pairs."""

MEASURES: dict[str, Measure] = {measure.name: measure for measure in (*_FIGURES, *_OTHERS)}
"""All measures by name: the headline figures in their order, then the rest."""

GROUPS = (
    MeasureGroup(
        "headlines",
        mark("Headline figures of a run"),
        by_name(*_FIGURES),
        advice=HEADLINE_ADVICE,
        place=1,
    ),
    MeasureGroup(
        "columns", mark("Other figures, and columns of the rated CSV"), by_name(*_OTHERS), place=2
    ),
)


def measure_of(name: str) -> Measure:
    """The measure that explains `name`: a headline figure, a figure of a query or a column.

    Raises ``KeyError`` for any other name.

    >>> measure_of("overall_precision").name
    'mean_overall_precision'
    """
    by_query_name = {m.query_name: m for m in MEASURES.values() if m.query_name}
    return MEASURES[name] if name in MEASURES else by_query_name[name]
