"""Plain values that travel between the layers: the content of files, the rater's judgments.

Nothing here knows a database, a web request or a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self

from msgspec import Struct, convert, field, to_builtins

OnProgress = Callable[[int, int], None]
"""A function that is called with the number of steps of some work that are done, and of all."""


def no_progress(_steps: int, _of: int) -> None:
    """Ignore the progress of work that nobody watches."""


LARGEST_INTEGER = 2**31 - 1  # the largest value that an integer column holds in every database


class Relevance(StrEnum):
    """One rater's verdict on one shown property; unjudged is the absence of a verdict."""

    RELEVANT = "1"
    NOT_RELEVANT = "0"
    UNSURE = "unsure"


CannotTell = Literal["not_relevant", "left_out"]
"""The part of "cannot tell" in a study's precisions: in the denominator, or left out."""
REPEATED: Literal["repeated"] = "repeated"
"""In place of the grade of an item that a list holds further up already."""
Number = int | Literal["unsure", "repeated"] | None
"""A verdict as exports write it and figures take it: its grade, "unsure", none if unjudged."""


class Scale(Struct, frozen=True, rename={"relevant_from": "from"}):
    """The grades of a study, 0 to ``top``, and the one from which an item is relevant.

    A verdict is stored as text: a grade or "unsure". ``words`` and ``guidance`` say what each
    grade means, from 0 up; each is empty, or has one text for every grade. ``top`` is 1 (a
    binary scale) to 4, ``relevant_from`` 1 to ``top``. Raises ``ValueError`` for others.
    """

    MOST: ClassVar[int] = 4

    top: int = 1
    relevant_from: int = 1
    words: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.top <= self.MOST:
            raise ValueError(f"the highest grade is 1 to 4, not {self.top}")
        if not 1 <= self.relevant_from <= self.top:
            raise ValueError(f"relevant is from a grade of 1 to {self.top}")
        if {len(self.words), len(self.guidance)} - {0, self.top + 1}:
            raise ValueError(f"one text is needed for each of the grades 0 to {self.top}")

    @classmethod
    def stored(cls, values: Mapping[str, Any] | None) -> Self:
        """The scale that a study states; the binary one where it states none."""
        return convert(values or {}, cls)

    def to_store(self) -> dict[str, Any] | None:
        return None if self == BINARY else to_builtins(self)

    @property
    def verdicts(self) -> tuple[str, ...]:
        return (*map(str, range(self.top + 1)), str(Relevance.UNSURE))

    @property
    def relevant(self) -> frozenset[str]:
        return frozenset(map(str, range(self.relevant_from, self.top + 1)))

    @property
    def relevances(self) -> Mapping[str | None, Relevance | None]:
        """Each verdict as it is stored, read at the threshold; none and "" are unjudged."""
        return _relevances(self)

    @property
    def numbers(self) -> Mapping[str | None, Number]:
        """Each verdict as it is stored, as ``number`` has it."""
        return _numbers(self)

    def merging(self, chosen: str | None) -> str:
        """How several raters' verdicts become one: as `chosen`, usually by "median" for grades.

        Else, and always on a binary scale, by "majority".
        """
        return "median" if self.top > 1 and chosen != "majority" else "majority"

    def accepts(self, text: str) -> bool:
        return text in self.verdicts

    def number(self, text: str | None) -> Number:
        """A verdict as exports write it: a grade, "unsure", or ``None`` while unjudged.

        Raises ``ValueError`` for a text that the scale has not.
        """
        if not text:
            return None
        if not self.accepts(text):
            raise ValueError(f"{text!r} is not a verdict on a scale of 0 to {self.top}")
        return "unsure" if text == Relevance.UNSURE else int(text)

    def grade(self, text: str | None) -> int | None:
        """The grade, ``None`` for "unsure" and while unjudged; raises as ``number`` does."""
        number = self.number(text)
        return number if isinstance(number, int) else None

    def binary(self, text: str | None) -> Relevance | None:
        """A verdict read at the threshold, ``None`` while unjudged; raises as ``number`` does."""
        match self.number(text):
            case None:
                return None
            case int(grade):
                return Relevance.RELEVANT if grade >= self.relevant_from else Relevance.NOT_RELEVANT
            case _:
                return Relevance.UNSURE


BINARY = Scale()


@lru_cache
def _numbers(scale: Scale) -> Mapping[str | None, Number]:
    return {text: scale.number(text) for text in (None, "", *scale.verdicts)}


@lru_cache
def _relevances(scale: Scale) -> Mapping[str | None, Relevance | None]:
    return {text: scale.binary(text) for text in (None, "", *scale.verdicts)}


class EmptyOutcome(StrEnum):
    """One rater's verdict on an empty list; unclassified is the absence of a verdict."""

    CORRECT_EMPTY = "correct_empty"
    FALSE_NEGATIVE = "false_negative"


class QueryState(StrEnum):
    """The kind of answer that one question got in one run.

    ``UNREADABLE`` is an answer that claims results of which no card could be read: it is
    shown, never asked as empty and in no denominator.
    """

    RESULTS = "results"
    EMPTY = "empty"
    FAILED = "failed"
    UNREADABLE = "unreadable"


class Severity(StrEnum):
    """An error in a file loses something, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


# The names under which the ten items of the System Usability Scale and the comments are stored.
USABILITY_ITEMS = tuple(f"sus {number}" for number in range(1, 11))
COMMENTS = ("helped", "missing")
CONSTRAINTS = ("property_type", "listing_type", "location", "price", "bedrooms", "floors")
"""The constraints that a V2 question may set, by their names in files, in the order shown."""


class Item(Struct, frozen=True, gc=False):
    """One result of a list as the system's user saw it.

    ``kind`` tags stored cards, the kind's template and its words. ``columns`` are the fields in
    exports, in order, ``seen_blind`` those that blind raters see, ``labels`` the fields of a run
    that name its system. ``states_more``: files say more of an item than its fields, which is shown
    under it. ``of_one_run`` are the fields that a result keeps for itself, the others being kept
    once for all runs; ``None`` means all fields.
    ``headlines`` are the figures that pages show first, none meaning those of the method for
    properties. ``of_collection``: files of judgments name it by its id in a collection, and hold
    all that was judged for a question. ``is_text``: words of the question can be marked in it.
    ``has_pictures``: it may have one. ``always_answered``: the quality of an answer is asked even
    where it is blank. ``reasons`` are the usual ones why an item is not relevant, worded in
    ``labels.REASONS``.
    """

    kind: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    seen_blind: ClassVar[tuple[str, ...]]
    labels: ClassVar[tuple[str, ...]] = ("search_method",)
    states_more: ClassVar[bool] = False
    of_one_run: ClassVar[tuple[str, ...] | None] = None
    headlines: ClassVar[tuple[str, ...]] = ()
    of_collection: ClassVar[bool] = False
    is_text: ClassVar[bool] = False
    has_pictures: ClassVar[bool] = False
    always_answered: ClassVar[bool] = False
    reasons: ClassVar[tuple[str, ...]] = ()

    title: str = ""
    url: str | None = None

    @property
    def name(self) -> str:
        """What it is called in one line of a list."""
        return self.title

    @property
    def identity(self) -> str:
        """Its identity in every run, as ``what:value``."""
        raise NotImplementedError

    @classmethod
    def docno(cls, identity: str, content: int) -> str:
        """Return the id of a version of an item in files of judgments, by its number from 1."""
        return f"{identity}/{content}".replace("%", "%25").replace("#", "%23")

    def differences(self, version: Any) -> tuple[str, ...]:
        """Return the fields in which two versions of an item contradict each other.

        Without any, a verdict on one version holds for the other.
        """
        raise NotImplementedError

    def fullest(self, version: Any) -> Self:
        """Return this version with its gaps filled from `version`."""
        raise NotImplementedError

    def renewed(self, version: Any) -> Self:
        """Return this version with what `version` states in its place, and its gaps filled."""
        raise NotImplementedError

    def uniform(self, _offer: str | None) -> Self:
        """Return it as blind raters see it, without what tells one system from another."""
        return self

    @classmethod
    def alike(cls, items: Sequence[Self]) -> list[Self]:
        """Return the items of several systems' lists without what only some of the lists state."""
        return list(items)

    def described(self) -> str:
        """Return what a machine that judges it reads."""
        raise NotImplementedError


class Problem(Struct, frozen=True):
    """Something wrong in a file, named so that its owner can mend it.

    ``code`` picks the message and ``details`` fills it, so that the same problem can be
    shown in any language (see ``importers.runs.problems.message``).
    """

    severity: Severity
    code: str
    file: str
    query_id: int | None = None
    line: int | None = None
    details: Mapping[str, str | int] = field(default_factory=dict)

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> Self:
        return cls(**{**values, "severity": Severity(values["severity"])})


class ReadQuery(Struct, frozen=True, gc=False):
    """One question of a run file with the answer it got, items in rank order (1-based).

    ``claimed_count`` is the file's own number of results, ``extra`` every key that is not
    understood here (and latency_ms, usage, which are kept as they are).
    ``external_id`` is the file's own id of the question where it states one. ``tail`` has the
    identities of the items below those that became cards, in order. ``holes`` are the ranks, above
    that of the last card, of results that could not be read; cards have the ranks between them.
    """

    query_id: int
    question: str
    category: str
    response: str
    state: QueryState
    cards: tuple[Any, ...] = ()
    claimed_count: int | None = None
    error: str | None = None
    context_dependent: bool | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    external_id: str | None = None
    tail: tuple[str, ...] = ()
    holes: tuple[int, ...] = ()


class ReadRun(Struct, frozen=True):
    """A run file as read: its labels, its queries in order, and what is wrong with it.

    ``file_format`` is "v1" (test_results.json) or "v2" (results.json), else a name of
    ``importers.results``. ``search_method`` and ``llm`` are ``None`` where the file does not
    state them. ``key`` is a SHA-256 over numbers, questions and answers, equal for the files of
    one session; of results over questions, items and answers, equal for equal lists.
    """

    file_format: str
    name: str
    sha256: str
    queries: tuple[ReadQuery, ...]
    timestamp: str | None = None
    search_method: str | None = None
    llm: str | None = None
    thread_id: str | None = None
    user_id: str | None = None
    total_questions: int | None = None
    problems: tuple[Problem, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    key: str = ""

    @property
    def is_of_results(self) -> bool:
        """Whether it is of results of any system, and not of a chatbot's answers."""
        return self.file_format not in ("v1", "v2")


class Click(NamedTuple):
    """When and where a rater's event was made, which settles its order and identity.

    ``event_id`` is made by the page's script (by the server without one); ``device`` and
    ``sequence`` number the events of one browser. All times are aware and in UTC.
    """

    event_id: str
    received_at: datetime
    client_time: datetime | None = None
    device: str | None = None
    sequence: int | None = None


class CollectedAnswer(Struct, frozen=True):
    """One question put to a chatbot and what came back, as a run file keeps it.

    ``error`` says why the call failed, in words, ``error_code`` which kind of failure it was
    and ``excerpt`` how the unusable answer began; all are empty for an answer. ``latency_ms``
    is of the try that was answered. What the chatbot sent beside its text is kept as it was.
    """

    query_id: int
    question: str
    category: str
    context_dependent: bool | None = None
    response: str = ""
    results_count: int | None = None
    error: str = ""
    error_code: str = ""
    excerpt: str = field(default="", name="answer_excerpt")
    latency_ms: int | None = None
    tries: int = 1
    usage: Mapping[str, object] | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    properties: tuple[object, ...] | None = None


class CollectedRun(Struct, frozen=True):
    """A question set put to a chatbot, in part or as a whole: answers in order.

    ``timestamp`` (YYYYMMDD_HHMMSS) is when it began, ``thread_id`` the chatbot's session,
    ``endpoint`` the address without what may be secret in it.
    """

    timestamp: str
    thread_id: str
    user_id: str
    search_method: str
    llm: str
    endpoint: str
    total_questions: int
    answers: tuple[CollectedAnswer, ...] = field(default=(), name="results")

    @property
    def is_complete(self) -> bool:
        return len(self.answers) >= self.total_questions


class Counts(Struct, frozen=True):
    """The numbers of a run: its queries by their state, and its cards."""

    queries: int
    cards: int
    with_results: int
    empty: int
    failed: int
    unreadable: int


class BlindCounts(Struct, frozen=True):
    """How many verdicts or grades were given on which pages: ``n`` in all.

    ``blind`` on a page that names neither run nor method, ``open`` on one that names both, the
    last of them at ``last_open``.
    """

    n: int = 0
    blind: int = 0
    open: int = 0
    last_open: datetime | None = None

    @property
    def unknown(self) -> int:
        """How many came from elsewhere, as from a file, where nothing says what was shown."""
        return self.n - self.blind - self.open


class Blindness(Struct, frozen=True):
    """How blind the current verdicts (on cards and empty lists) and grades of answers are."""

    verdicts: BlindCounts = BlindCounts()
    grades: BlindCounts = BlindCounts()


class State(Struct, frozen=True):
    """How far questions, a run or a study is rated under a rule; each judged item counts once.

    ``complete`` of ``questions`` (those with a readable answer) wait for no verdict. ``cards`` and
    ``lists`` (empty ones) have none, ``ties`` wait for a decision, ``decided`` are ties that a
    decision settles but not this rule, ``answers`` have no grade. ``behind`` has the number of
    questions that each rater has still to finish, by name, where the rule merges raters.
    """

    questions: int = 0
    complete: int = 0
    cards: int = 0
    lists: int = 0
    ties: int = 0
    decided: int = 0
    answers: int = 0
    behind: Mapping[str, int] = field(default_factory=dict)

    @property
    def stage(self) -> Literal["rating", "waiting", "ties", "rule", "complete"]:
        """What comes next: rate, wait for raters, decide ties, choose another rule, or nothing."""
        if self.cards or self.lists:
            return "rating"
        if self.behind:
            return "waiting"
        if self.ties:
            return "ties"
        if self.answers:
            return "rating"
        return "rule" if self.decided else "complete"

    @property
    def is_complete(self) -> bool:
        """Whether nothing is open that could still move a figure."""
        return self.stage == "complete"


class ExportedFile(Struct, frozen=True):
    """A file to download: its name, its media type, its bytes, and the warnings on its gaps."""

    name: str
    media_type: str
    data: bytes
    notes: tuple[str, ...] = ()
