"""The meaning of every figure and column: one place for pages, command line, exports and docs.

All texts are English message ids, to be passed through ``gettext`` where they are shown;
citations and names of columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import gettext, mark
from relevansi.metrics.judging.graded import ranking_figure
from relevansi.metrics.judging.queries import MEANS
from relevansi.records import Scale

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

    ``name`` is the key in ``figures()``, else the column's name. ``denominator``
    says what the headline figure is a share or mean of; it is empty for a column that is not a
    figure, as ``formula`` and ``source`` may be. ``reading`` says how to read the number, where
    a reader needs that. ``binary``: it depends on the grade from which a study calls a result
    relevant.
    """

    name: str
    label: str
    meaning: str
    unit: Unit = "ratio"
    formula: str = ""
    denominator: str = ""
    edge_cases: tuple[str, ...] = ()
    source: str = ""
    reading: str = ""
    binary: bool = False


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
    """A measure with its special cases one by one."""
    return Measure(name, label, meaning, unit, formula, denominator, edge_cases, source, reading)


def _binary(*texts: str, **further: Any) -> Measure:
    return replace(explained(*texts, **further), binary=True)


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


_HEADLINES = by_name(
    _binary(
        "mean_precision_at_5",
        mark("Precision@5"),
        mark("How much of what is shown first is relevant."),
        mark("relevant / counted within ranks 1 to min(5, n)"),
        COMPLETE_WITH_RESULTS,
        mark("A list shorter than 5 is divided by its own length."),
        COUNTED,
        NO_RESULTS,
        FAILED,
        source=MANNING,
        reading=mark(
            "0.8 means that four of the first five cards are relevant. As a rule of "
            "thumb, above 0.7 (the bound between the grades 3 and 4) most of what is seen "
            "first is relevant."
        ),
    ),
    _binary(
        "mean_overall_precision",
        mark("Overall precision"),
        mark("How much of all that is shown is relevant."),
        mark("relevant / counted over all n results"),
        COMPLETE_WITH_RESULTS,
        COUNTED,
        NO_RESULTS,
        FAILED,
        source=MANNING,
        reading=mark(
            "Precision@5 looks at the first five cards only, overall precision at every card "
            "shown. A list of at most five cards has the same value in both."
        ),
    ),
    _binary(
        "mrr",
        mark("MRR"),
        mark("How early the first relevant result comes."),
        mark("1 / rank of the first relevant result, over the whole list"),
        COMPLETE_WITH_RESULTS,
        mark("0 when no result is relevant."),
        mark("A result marked cannot tell takes up its rank and is not the relevant one."),
        mark("Empty lists are not counted; MRR with false negatives counts them."),
        MRR_OF_EMPTY,
        FAILED,
        source=f"{VOORHEES_1999} {CRASWELL}",
        reading=mark(
            "1 means that the first card is always relevant, 0.5 that the first relevant "
            "card is typically the second; near 0 it comes late or not at all."
        ),
    ),
    _binary(
        "mrr_answerable",
        mark("MRR with false negatives"),
        mark("MRR in which an empty list that should have had results counts as 0."),
        mark("1 / rank of the first relevant result; 0 for a false negative"),
        mark("questions with results whose rating is complete, and false negatives"),
        mark("0 when no result is relevant."),
        mark("An empty list where there is truly nothing has no value."),
        MRR_OF_EMPTY,
        FAILED,
        source=f"{METHOD}, 3. {VOORHEES_1999}",
    ),
    _binary(
        "success_rate",
        mark("Success rate"),
        mark("How many questions got at least one relevant result."),
        mark("questions with at least 1 relevant result or a correct empty list / questions"),
        mark("all questions whose rating is complete"),
        mark("An empty list is 1 where there is truly nothing, 0 where results are missing."),
        mark("A failed call is 0."),
        mark(
            "No value while none is relevant and at least one cannot be told, where those are "
            "left out."
        ),
        UNREADABLE,
        source=VOORHEES_2002,
        reading=mark(
            "It is high as soon as anything relevant is shown: read it with a precision, "
            "which says how much of what is shown is relevant."
        ),
    ),
    explained(
        "coverage",
        mark("Coverage"),
        mark("How many questions got any results, relevant or not."),
        mark("questions with results / questions"),
        mark("all questions"),
        mark("Known from the import: judging does not change it."),
        mark("A failed call counts as no results."),
        UNREADABLE,
        source=MANNING,
        reading=mark(
            "Coverage asks whether anything was shown, the success rate whether anything relevant "
            "was."
        ),
    ),
    explained(
        "mean_response_quality",
        mark("Mean quality"),
        mark("How good the answers are as a whole, in the rater's eyes."),
        mark("sum of the grades 0 to 5 / rated answers"),
        mark("the rated answers"),
        mark("An answer without a grade is left out, not counted as 0."),
        UNREADABLE,
        source=f"{METHOD}, 2.2 & 6.6",
        unit="grade 0-5",
        reading=mark(
            "An opinion on a six-point scale: compare it between runs, not with the ratios."
        ),
    ),
    explained(
        "composite",
        mark("Composite"),
        mark("The weighted score of the original comparison; not a verdict by itself."),
        mark("0.4 Precision@5 + 0.3 MRR + 0.2 success rate + 0.1 coverage"),
        mark("as in its four parts"),
        mark("No value as soon as one of its parts has none."),
        source=METHOD,
    ),
)

_OTHERS = by_name(
    _binary(
        "trec_precision_at_5",
        "P@5 (trec_eval)",
        mark("Precision@5 as trec_eval computes it: always divided by 5."),
        mark("relevant within the first 5 ranks / 5"),
        COMPLETE_WITH_RESULTS,
        mark("A list shorter than 5 cannot reach 1."),
        mark("Results marked cannot tell count like not relevant ones."),
        NO_RESULTS,
        source=f"{MANNING} {TREC_EVAL}",
    ),
    Measure("query_id", mark("Query number"), mark("Number in the question set."), "count"),
    Measure("question", mark("Question"), mark("What the chatbot was asked."), "text"),
    Measure("category", mark("Category"), mark("The kind of question."), "text"),
    explained(
        "results_count",
        mark("Results"),
        mark("Number of results in the answer."),
        "",
        "",
        mark("A property listed twice counts at both ranks."),
        unit="count",
    ),
    explained(
        "relevant_count",
        mark("Relevant results"),
        mark("Number of results judged relevant."),
        "",
        "",
        mark("Blank while the rating of the question is not complete."),
        unit="count",
    ),
    explained(
        "first_relevant_rank",
        mark("First relevant rank"),
        mark("Rank of the first relevant result, counted from 1."),
        "",
        "",
        mark("Blank when no result is relevant and for an empty list."),
        unit="rank",
    ),
    Measure("notes", mark("Notes"), mark("What the rater wrote about the answer."), "text"),
)

_BOUNDED = mark(
    "An unjudged result has no gain so far. The bounds are what the value can still become while "
    "the results shown are judged."
)
_UNBOUNDED = mark(
    "An unjudged result has no gain and is not in R. No bounds are given, since a further verdict "
    "changes what is divided by too: Judged@k tells how much of it is known."
)
_DIVIDED_BY_R = (
    mark(
        "No value where R, the relevant among all judged items of the question, is 0. ir-measures "
        "and trec_eval have 0 there: add (trec_eval) to the name for that."
    ),
    _UNBOUNDED,
)


def _ranking(
    label: str,
    meaning: str,
    formula: str,
    *edge_cases: str,
    source: str = MANNING,
    unit: Unit = "ratio",
) -> Measure:
    of = mark("the questions that have a value")
    name = label.removesuffix("@k")
    make = explained if name in {"nDCG", "ERR", "Judged"} else _binary
    return make(name, label, meaning, formula, of, *edge_cases, source=source, unit=unit)


RANKING = by_name(
    _ranking(
        "P@k",
        mark("How much of the first k results is relevant."),
        mark("relevant within ranks 1 to k / min(n, k)"),
        _BOUNDED,
        mark("No value for an empty list."),
        mark("ir-measures divides by k however short the list is: that is P@k (trec_eval)."),
    ),
    _ranking(
        "success",
        mark("Whether any result is relevant; success@k looks at the first k only."),
        mark("1 with a relevant result, else 0"),
        _BOUNDED,
        mark("0 for an empty list. Equal to Success@k of ir-measures."),
        source=VOORHEES_2002,
    ),
    _ranking(
        "RR",
        mark("How early the first relevant result comes; RR@k looks at the first k only."),
        mark("1 / rank of the first relevant result"),
        _BOUNDED,
        mark("0 when no result is relevant, and for an empty list."),
        mark("ir-measures breaks ties by falling document names in RR, by rising ones in RR@k."),
        source=f"{VOORHEES_1999} {CRASWELL}",
    ),
    _ranking(
        "nDCG@k",
        mark("How close the first k results come to the best order of all judged items."),
        mark(
            "sum of gain / log2(rank + 1) over that of the pool sorted by grade, both cut at k; "
            "the gain is the grade, with (exponential) 2^grade - 1"
        ),
        _UNBOUNDED,
        mark("No value where no judged item has a grade above 0; nDCG@k (trec_eval) is 0 there."),
        mark("nDCG@k (exponential) is the nDCG of gdeval."),
        source="Järvelin & Kekäläinen (2002), ACM TOIS 20(4), 422-446. Burges et al. (2005), ICML.",
    ),
    _ranking(
        "ERR@k",
        mark("How early a reader is satisfied, where better grades satisfy more readers."),
        mark("sum of R_i / i x product of (1 - R_j) over the ranks above; R = (2^grade - 1) / 2^g"),
        _BOUNDED,
        mark("g is the highest grade of the study; gdeval has 4. 0 for an empty list."),
        source="Chapelle, Metzler, Zhang & Grinspan (2009), CIKM, 621-630.",
    ),
    _ranking(
        "RBP",
        mark("How much of what a patient reader looks at is relevant; RBP(p) sets the patience."),
        mark("(1 - p) x sum of p^(rank - 1) over the relevant ranks, p = 0.8"),
        mark("The upper bound adds the residual: the weights of all ranks that nobody judged."),
        mark("ir-measures computes it only with a further package (cwl-eval)."),
        source="Moffat & Zobel (2008), ACM TOIS 27(1), 2:1-2:27.",
    ),
    _ranking(
        "Judged@k",
        mark("How much of the first k results is judged: what other figures rest on."),
        mark("judged within ranks 1 to k / min(n, k)"),
        mark("No value for an empty list."),
        mark("A result marked cannot tell is judged; qrels leave it out, so ir-measures has less."),
        source="Sakai (2007), SIGIR, 71-78.",
    ),
    _ranking(
        "relevant@k",
        mark("How many of the first k results are relevant: the numerator of recall@k."),
        mark("relevant within ranks 1 to k"),
        _BOUNDED,
        unit="count",
    ),
    _ranking(
        "recall@k",
        mark("How many of the relevant items are among the first k results."),
        mark("relevant within ranks 1 to k / R"),
        *_DIVIDED_BY_R,
    ),
    _ranking(
        "R-precision",
        mark("Precision at the rank by which all relevant items could have been listed."),
        mark("relevant within ranks 1 to R / R"),
        *_DIVIDED_BY_R,
    ),
    _ranking(
        "AP",
        mark("How early all the relevant items come; its mean is known as MAP."),
        mark("sum of the precisions at the ranks of relevant results / R"),
        *_DIVIDED_BY_R,
    ),
    _ranking(
        "bpref",
        mark("How seldom results judged not relevant stand above relevant ones."),
        mark("1/R x sum of 1 - min(not relevant above, R) / min(not relevant in the pool, R)"),
        *_DIVIDED_BY_R,
        source="Buckley & Voorhees (2004), SIGIR, 25-32.",
    ),
    _ranking(
        "infAP",
        mark("An estimate of AP from a pool that is judged in part."),
        mark("1/R x sum of expected precisions: judged results above speak for unjudged ones"),
        *_DIVIDED_BY_R,
        mark("Equal to ir-measures where the qrels name unjudged items of the pool with -1."),
        source="Yilmaz & Aslam (2006), CIKM, 102-111.",
    ),
)
"""The ranking figures of ``graded``, by their families."""

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

MEASURES: Mapping[str, Measure] = {**_HEADLINES, **_OTHERS}
"""All measures by name: the headline figures in their order, then the rest."""

GROUPS = (
    MeasureGroup(
        "headlines",
        mark("Headline figures of a run"),
        _HEADLINES,
        advice=HEADLINE_ADVICE,
        place=1,
    ),
    MeasureGroup("columns", mark("Other figures, and columns of the rated CSV"), _OTHERS, place=2),
    MeasureGroup("ranking", mark("Ranking figures by name"), RANKING, place=2),
)


def measure_of(name: str) -> Measure:
    """The measure that explains `name`: a figure by any of its names, or a column.

    Raises ``graded.UnknownFigure`` for any other name.

    >>> measure_of("overall_precision").name
    'mean_overall_precision'
    """
    averaged = (headline for headline, of_query in MEANS.items() if of_query == name)
    return MEASURES.get(next(averaged, name)) or ranking_measure(name)


def ranking_measure(name: str) -> Measure:
    """The measure that explains a ranking figure, under its own name.

    Raises ``graded.UnknownFigure``.

    >>> ranking_measure("ndcg@10").label, ranking_measure("ndcg@10").binary
    ('nDCG@10', False)
    """
    figure = ranking_figure(name)
    return replace(RANKING[figure.family], name=figure.name, label=figure.name)


def label_of(name: str, scale: Scale) -> str:
    """The label of a figure by its name; see ``label_on``."""
    return label_on(measure_of(name), scale)


def label_on(measure: Measure, scale: Scale) -> str:
    """The label of `measure` in the language in force, with the grade that it starts from.

    The grade is named in a graded study, at the figures that know relevant or not only.
    """
    label, grade = gettext(measure.label), scale.relevant_from
    if scale.top == 1 or not measure.binary:
        return label
    return gettext("%(figure)s (from grade %(grade)s)", figure=label, grade=grade)
