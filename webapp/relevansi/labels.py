"""Labels in words: search methods, categories of questions, rules of merging raters, judgments.

Files, addresses and JSON keep the raw label; an unknown one is shown as it is. LLMs are shown
as their owner writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache

from relevansi.i18n import LANGUAGES, gettext, kind_of_items, mark, ngettext, speak_of, speaking
from relevansi.kinds import KINDS
from relevansi.kinds.property import Card
from relevansi.records import BINARY, CannotTell, Scale, State

OWNER_NAME = mark("Owner")
METHODS = {"api_only": "API Only", "vector_only": "Vector Only", "hybrid": "Hybrid"}
"""The search methods of the original evaluation, in its order: names, the same everywhere."""

CATEGORIES: Mapping[str, str] = {
    "location_simple": mark("Location"),
    "location_price": mark("Location and price"),
    "location_price_spec": mark("Location, price, specification"),
    "location_intent": mark("Location with a purpose"),
    "property_type": mark("Property type"),
    "context_followup": mark("Follow-up"),
    "context_modify": mark("Changed criteria"),
    "feature_search": mark("Facilities"),
    "nearby_search": mark("Near a place"),
    "nearby_price": mark("Near a place, with price"),
    "complex_query": mark("Several criteria"),
    "project_search": mark("Project or estate"),
}

RULES: Mapping[str, str] = {
    "majority": mark("Majority of all raters"),
    "adjudicated": mark("Adjudicated, else the majority"),
    "rated file": mark("As the rated file has it"),
}
MEDIAN_RULES: Mapping[str, str] = {
    "majority": mark("Median of all raters (the lower of two middle grades)"),
    "adjudicated": mark("Adjudicated, else the median (the lower of two middle grades)"),
}
"""The same rules in a study that merges grades by their median."""

CANNOT_TELL: Mapping[CannotTell, str] = {
    "not_relevant": mark('"Cannot tell" counts as not relevant.'),
    "left_out": mark('"Cannot tell" is left out of the precisions.'),
}

JUDGMENTS: Mapping[str, Mapping[str, str]] = {
    "relevance": {"1": mark("Relevant"), "0": mark("Not relevant"), "unsure": mark("Cannot tell")},
    "empty_outcome": {
        "correct_empty": mark("There is truly nothing"),
        "false_negative": mark("There should have been results"),
    },
}
"""Verdicts by the field that they are stored in; a quality and notes say themselves."""

QUALITIES = (
    mark("Error / no results"),
    mark("None relevant"),
    mark("Few relevant (<50%)"),
    mark("Fairly relevant (50-70%)"),
    mark("Most relevant (>70%)"),
    mark("All results very relevant"),
)
"""What raters mean by a grade of an answer, from 0."""
QUALITIES_FOR_USERS = (
    *(mark("Very bad"), mark("Bad"), mark("Not so good")),
    *(mark("Fair"), mark("Good"), mark("Very good")),
)
"""What users of a chatbot mean by it."""

OTHER = "other"
REASONS: Mapping[str, str] = {
    "location": mark("Location"),
    "price": mark("Price"),
    "type": mark("Type"),
    "specification": mark("Specification"),
    "gone": mark("No longer available"),
    "other_topic": mark("Other topic"),
    "partly": mark("Only in part"),
    "outdated": mark("Outdated"),
    "duplicate": mark("Duplicate"),
    "untrusted": mark("Not trustworthy"),
    OTHER: mark("Other"),
}
"""Why an item is not relevant, by key; any other reason of a study is its own name."""

FIELDS: Mapping[str, str] = {
    "relevance": mark("Verdict"),
    "reason": mark("Why not relevant"),
    "empty_outcome": mark("Empty list"),
    "quality": mark("Quality"),
    "notes": mark("Notes"),
}


# Words and grades are those of one study, and a process may serve several: whoever reads the
# study (a request, a command) puts them in force for its own context by `use_words_of`.
_scale: ContextVar[Scale] = ContextVar("scale", default=BINARY)
_merging: ContextVar[str] = ContextVar("merging", default="majority")


def scale() -> Scale:
    """Return the scale whose words are in force in this context."""
    return _scale.get()


def merging() -> str:
    """Return how verdicts are merged in this context: by "majority" or, of grades, "median"."""
    return _merging.get()


def use_words_of(kind: str, of_study: Scale, merging: str | None = None) -> None:
    """Put the words of a study's items, its grades and its way to merge them in force here."""
    speak_of(kind)
    _scale.set(of_study)
    _merging.set(of_study.merging(merging))


def verdict(value: str) -> str:
    """Return a verdict on an item or an empty list in words: a grade with what it means."""
    if value in JUDGMENTS["empty_outcome"]:
        return gettext(JUDGMENTS["empty_outcome"][value])
    words = scale().words
    meaning = words[int(value)] if value.isdecimal() and int(value) < len(words) else ""
    if value.isdecimal() and scale().top > 1:
        return f"{value} ({meaning})" if meaning else value
    return meaning or gettext(JUDGMENTS["relevance"][value])


def reason(value: str) -> str:
    """Return why an item is not relevant in words; those that a rater wrote as they are.

    >>> reason("price"), reason("other: Too far"), reason("Too loud")
    ('Harga', 'Too far', 'Too loud')
    """
    key, separator, words = value.partition(": ")
    if separator and key == OTHER:
        return words
    return gettext(REASONS[value]) if value in REASONS else value


def sign(value: str) -> str:
    """Return the sign of a verdict: a mark, or the grade."""
    if value.isdecimal() and scale().top > 1:
        return value
    return {"1": "✓", "0": "✗", "unsure": "?", "correct_empty": "✓", "false_negative": "✗"}[value]


def method(label: str | None) -> str:
    """Return a search method in words; empty where none is stated."""
    return METHODS.get(label, label) if label else ""


def method_order(label: str | None) -> int:
    """Return the place of a search method among others: API, Vector, Hybrid, then the rest.

    >>> method_order("api_only"), method_order("vector"), method_order("bm25")
    (0, 1, 3)
    """
    short_names = [name.removesuffix("_only") for name in METHODS]
    name = (label or "").removesuffix("_only")
    return short_names.index(name) if name in short_names else len(METHODS)


def category(label: str) -> str:
    """Return a category of questions in words; one that a study made is its own name."""
    return gettext(CATEGORIES[label]) if label in CATEGORIES else label


def category_label(words: str) -> str:
    """Return the label of a category that is named in words, others as they are."""
    labels = {category(label).casefold(): label for label in CATEGORIES}
    return labels.get(words.casefold(), words)


def with_label(words: str, label: str) -> str:
    """Return words with the raw label behind them, where the two differ: for reports."""
    return words if words.casefold() == label.casefold() else f"{words} ({label})"


def run(search_method: str | None, llm: str | None) -> str:
    """Return what a run is called by its labels, or that those of its kind are not stated."""
    name = method(search_method) or gettext("method not stated")
    if not llm and "llm" not in KINDS.get(kind_of_items(), Card).labels:
        return name
    return f"{name} · {llm or gettext('LLM not stated')}"


def owner(name: str) -> str:
    """Return a rater's name; "Owner", which nobody chose, in the reader's language."""
    return translated_default(name, OWNER_NAME)


def translated_default(name: str, default: str) -> str:
    """Return `name`, or `default` in the reader's language where it is that in any language.

    A study is made in the language of its owner, and later read in others.
    """
    return gettext(default) if name in _in_every_language(default) else name


@cache
def _in_every_language(text: str) -> set[str]:
    texts = set()
    for code in LANGUAGES:
        with speaking(code):
            texts.add(gettext(text))
    return texts


def rule(name: str, merged: str | None = None) -> str:
    """Return a rule in words: a rater or a machine alone, the majority, or adjudicated.

    `merged` is how verdicts are merged, if not as in this context.
    """
    kind, _, rater = name.partition(" ")
    if kind == "machine" and rater:
        return gettext("%(name)s (machine) alone", name=rater)
    if kind == "rater" and rater:
        return gettext("%(name)s alone", name=owner(rater))
    is_median = (merged or merging()) == "median"
    rules = {**RULES, **MEDIAN_RULES} if is_median else RULES
    return gettext(rules[name]) if name in rules else name


def cannot_tell(setting: CannotTell | None) -> str:
    """Return the sentence on what "cannot tell" is in figures; empty where that is not known."""
    return gettext(CANNOT_TELL[setting]) if setting else ""


def quality(grade: int, *, lay: bool = False) -> str:
    """Return what a grade of an answer means, to raters or, `lay`, to users of a chatbot."""
    return gettext((QUALITIES_FOR_USERS if lay else QUALITIES)[grade])


def field(name: str) -> str:
    """Return what a field of a judgment is called: "relevance" is the verdict."""
    return gettext(FIELDS[name])


def judgment(value: str | None, field: str) -> str:
    """Return a rater's judgment in `field` in words; a dash where there is none."""
    if not value:
        return "-"
    if field == "reason":
        return reason(value)
    return verdict(value) if field in JUDGMENTS else value


def work_left(
    cards: int, empty_lists: int, questions: int, answers: int, is_ending: bool = False
) -> str:
    r"""Return the work left: questions, and what of them lacks a verdict or a grade.

    `is_ending` where nothing is left but what is asked once more, which no number reveals.

    >>> work_left(12, 1, 3, 0), work_left(0, 0, 0, 0)
    ('Tersisa 3 pertanyaan · 12\xa0kartu, 1\xa0daftar\xa0kosong',
    'Tidak ada yang tersisa untuk dinilai')
    """
    if not questions:
        return gettext("Almost done") if is_ending else gettext("Nothing is left to rate")
    parts = [
        ngettext("%(n)s card", "%(n)s cards", cards) if cards else "",
        ngettext("%(n)s empty list", "%(n)s empty lists", empty_lists) if empty_lists else "",
        ngettext("%(n)s answer not graded", "%(n)s answers not graded", answers) if answers else "",
    ]
    questions_left = ngettext("%(n)s question left", "%(n)s questions left", questions)
    listed = ", ".join(part.replace(" ", "\N{NBSP}") for part in parts if part)
    return f"{questions_left} · {listed}" if listed else questions_left


def state(progress: State) -> str:
    """Return how far something is rated, in one sentence: the same on pages, in files, in commands.

    >>> state(State(30, 30)), state(State(30, 16, cards=53))
    ('Lengkap', '16 dari 30 pertanyaan lengkap (sementara)')
    """
    if progress.is_complete:
        return gettext("Complete")
    parts = []
    lacks_verdicts = progress.cards or progress.lists
    if lacks_verdicts:
        complete = ngettext(
            "%(complete)s of %(n)s question complete",
            "%(complete)s of %(n)s questions complete",
            progress.questions,
            complete=progress.complete,
        )
        parts.append(complete)
    elif progress.behind:
        parts.append(gettext("Not finished yet: %(names)s", names=", ".join(progress.behind)))
    elif progress.ties:
        parts.append(gettext("All raters are done"))

    # A tie is decided last: as long as verdicts are missing it may still dissolve.
    if progress.ties and not lacks_verdicts:
        ties = ngettext(
            "%(n)s tie waits for a decision", "%(n)s ties wait for a decision", progress.ties
        )
        parts.append(ties)
    elif progress.decided and progress.stage == "rule":
        decided = ngettext(
            "%(n)s tie is decided, but this rule leaves it open",
            "%(n)s ties are decided, but this rule leaves them open",
            progress.decided,
        )
        parts.append(decided)

    if n := progress.answers:
        parts.append(ngettext("%(n)s answer not graded", "%(n)s answers not graded", n))
    return gettext("%(state)s (provisional)", state=" · ".join(parts))


def file_ending(progress: State) -> str:
    """Return what the name of a file ends in while something is open that moves its figures."""
    return "" if progress.is_complete else gettext("_provisional")
