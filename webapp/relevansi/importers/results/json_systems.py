"""The questions in a JSON value, and the systems whose lists they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from relevansi.importers.results.json_questions import (
    DEEPEST,
    GOLD,
    NO_ENVELOPES,
    fits,
    have_digits,
    is_wanted,
    list_at,
    list_of,
    may_be_item,
    question_at,
    rows_of_ids,
)
from relevansi.importers.results.records import (
    LOOKED_AT,
    has_objects,
    objects_in,
    rows_of_columns,
    text_at,
)
from relevansi.importers.results.rows import (
    ITEM_ROLES,
    OPEN_IDS,
    QUESTION_ROLES,
    Values,
    flattened,
    guessed,
    plain_name,
)
from relevansi.importers.results.shapes import (
    NAMES,
    QUERY,
    SHAPES,
    USUAL,
    USUAL_ITEMS,
    Shape,
)

_NAMES_OF_ROWS = "query query_id results system *"
"""Names in questions that are made of an object's keys and of its systems; ``*`` is any name."""
_OF_RESULTS = re.compile(
    r"results?|hits|(?:search|retrieval)_results|retrieved\w*|contexts?|rankings?|"
    r"hasil\w*|sistem|metode|(?:run|system|method|strateg|engine|retriever)(?:s|ies)"
)
"""Names of objects that have nothing but the lists of systems."""
_SYSTEM_NAMES = frozenset((*QUESTION_ROLES["system"].split(), "strategie"))
_OF_NAMED = "name|label|id"
"""Where an object under the name of a system has its own."""
_OF_QUESTIONS = re.compile(
    "(?:.*_)?(?:(?:case|question|topic|evaluation|sample|example|record|item|result|error|failure|"
    "warning|note)s?|query|queries|train|test|dev|validation)"
)
"""How lists of questions, the parts of a set of them and what failed are called."""
_OF_OCCASIONS = re.compile(
    "(?:^|_)(?:u?u?id|guid|hash|commit|sha|date|day|time|timestamp|ts|at|session|trace|batch|seed|"
    "attempt|try|trial|repeat|repetition|iteration|round|user|tester|author|state|status|"
    "tanggal|tgl|waktu|jam|hari|sesi|pengguna|penguji|putaran|ulangan)$"
)
"""How names end that say when, by whom or how a question was asked again, not of which system."""
_OCCASION = re.compile(r"\d{1,4}(?:[-/.]\d{1,2}){2}.*|[\d\W]+|(?=.*\d)[\da-f-]{7,}", re.IGNORECASE)
"""A date, a number, or an id that a program made."""
_QUESTION_ID = re.compile(r"(?:q|query|question|topic|pertanyaan|soal)[ _.-]?\d+", re.IGNORECASE)
"""An id that only a question has; one with another letter (e5, v2) may be the name of a system."""
_WORDS = re.compile(r"\S\s+\S|[^\x00-\x7f]")
"""Several words, or letters of which nobody makes ids."""
_USUAL_NAMES = NAMES | {
    name.lower()
    for names in (*QUESTION_ROLES.values(), *ITEM_ROLES.values())
    for name in names.split()
    if name != "keyword"  # search by which is one beside that by vectors
}
"""Names of which nobody's system has one."""


def _system_of(value: object, place: str = "") -> str:
    """The system of all lists in an object, "" for none; at the `place` of one, its name."""
    return text_at(value, f"{USUAL.system}|{_OF_NAMED}" if _names_systems(place) else USUAL.system)


def _names_systems(place: str) -> bool:
    """Whether what stands under this name is a system, or several."""
    return plain_name(place).removesuffix("s") in _SYSTEM_NAMES


def records(
    value: object, shape: Shape, systems: Sequence[str] = (), *, depth: int = 0, place: str = ""
) -> Iterator[object]:
    """The outermost objects in a JSON value that fit, with whatever is beside them in a list.

    They have the system that an object around them names, or its `place`. `systems` are the names
    under which others have the lists of systems.
    """
    if isinstance(value, list):
        yield from _in_list(value, shape, systems, depth, place)
        return
    rows = _by_list(value, shape, systems)
    if any(fits(shape, row) for row in rows):
        yield from rows
    elif isinstance(value, dict) and depth < DEEPEST:
        by_key = of_keys(value, place) if shape.is_usual else None
        yield from by_key or _in_object(value, shape, depth, place)


def _in_object(value: Values, shape: Shape, depth: int, place: str) -> Iterator[object]:
    """The objects that fit in the values of an object, and systems and questions without a list.

    Its names are those of systems where their lists ask alike, or nothing else is beside them.
    """
    nested = {
        name: inner
        for name, inner in value.items()
        if isinstance(inner, dict | list | None) and not GOLD.match(name)
    }
    groups = {n: [*records(v, shape, depth=depth + 1, place=n)] for n, v in nested.items()}
    names = [name for name, questions in groups.items() if questions]
    if not names:
        return
    others = {
        name
        for name, questions in groups.items()
        if not (questions or name.lower() in _USUAL_NAMES or NO_ENVELOPES.fullmatch(name))
    }
    are_objects = any(groups[name][0] is nested[name] for name in names)
    may_be_systems = (
        len(names) > 1
        or _names_systems(place)
        or _is_of_results(place)
        or any(_is_nothing(nested[name]) for name in others)
        or any(_likeness(inner) >= _LIKE_IDS for inner in objects_in([*nested.values()]))
    )
    are_alone = len(nested) == len(value) and not are_objects and may_be_systems
    are_systems = _USUAL_NAMES.isdisjoint(map(str.lower, names)) and not any(
        _OF_QUESTIONS.fullmatch(plain_name(name)) or _names_systems(name)
        for name in (*names, *others)
    )
    are_systems = are_systems and (are_alone or _are_shared(_questions_in(groups.values(), shape)))
    around = _system_of(value, place)
    for name, inner in nested.items():
        for record in groups[name]:
            has_own = not are_systems and text_at(record, shape.system)
            yield record if has_own else _with_system(record, name if are_systems else around)
        asks = isinstance(inner, dict) and question_at(inner, shape.query)[1]
        if not groups[name] and (asks or (are_systems and name in others)):
            yield inner if asks else [{name: inner}]


def _is_nothing(value: object) -> bool:
    """Whether a value has neither an entry nor a text, number or truth value."""
    return value in (None, [], {}) or (
        isinstance(value, dict) and all(map(_is_nothing, value.values()))
    )


def _in_list(
    value: list[object], shape: Shape, systems: Sequence[str], depth: int, place: str
) -> Iterator[object]:
    """The objects in a list that fit, or in its entries, and those in which none does."""
    systems = systems or systems_beside(value[:LOOKED_AT], shape)
    head = (row for entry in value[:LOOKED_AT] for row in _by_list(entry, shape, systems))
    groups: list[Sequence[object]] = []
    if any(fits(shape, row) for row in head):
        groups = [_by_list(entry, shape, systems) for entry in value]
    elif depth < DEEPEST:
        groups = [
            [*records(entry, shape, systems, depth=depth + 1, place=place)] for entry in value
        ]
    if any(groups):
        label = label_of(value, groups, shape)
        for entry, group in zip(value, groups, strict=True):
            yield from (_with_system(record, text_at(entry, label)) for record in group or [entry])


def _with_system(record: object, system: str) -> object:
    return {"system": system, **record} if system and isinstance(record, dict) else record


def _by_list(value: object, shape: Shape, systems: Sequence[str]) -> Sequence[object]:
    """A value, or a question once for each of its systems unless a person chose its list."""
    if not isinstance(value, dict) or shape.is_mapped:
        return [value]
    return of_systems(value, systems) or [value]


_OTHER_ROLES = frozenset({"query", "query_id", "answer", "category", "rater"})
_LABELS = ("name", "label", "experiment", "variant", "pipeline")
"""Names under which an object has what it is called, best first."""


def label_of(entries: Sequence[object], groups: Sequence[Sequence[object]], shape: Shape) -> str:
    """The name under which objects say which system each is, "" for none.

    `groups` are the questions in each of them, or each is one itself. The texts under it are such
    that each question has each once. A name or texts of the occasion (a date, an id) tell runs of
    one system apart, not systems.
    """
    question_sets = _questions_in(groups, shape)
    objects = objects_in([*entries])
    if not _are_shared(question_sets) or any(text_at(entry, shape.system) for entry in objects):
        return ""
    counts = Counter(chain.from_iterable(question_sets))
    names: list[str] = []
    for name in chain.from_iterable(objects[:1]):
        labelled = {
            (entry[name], question)
            for entry, questions in zip(entries, question_sets, strict=True)
            if isinstance(entry, dict) and isinstance(entry.get(name), str)
            for question in questions
        }
        texts = {text for text, _ in labelled}
        if len(labelled) < counts.total() or len(texts) > max(counts.values()):
            continue
        is_occasion = bool(_OF_OCCASIONS.search(plain_name(name)))
        is_occasion = is_occasion or all(map(_OCCASION.fullmatch, texts))
        is_other = not _OTHER_ROLES.isdisjoint(guessed((name,)))
        if name in _LABELS or not (is_occasion or is_other):
            names.append(name)
    labels = [name for name in _LABELS if name in names]
    labels += names if len(names) == 1 and len(counts) > 1 else []
    return labels[0] if labels else ""


def _questions_in(groups: Iterable[Sequence[object]], shape: Shape) -> list[set[str]]:
    """The questions of the records in each group, by their words or else their ids."""
    question_sets: list[set[str]] = []
    for group in groups:
        records = [record for record in objects_in([*group]) if is_wanted(shape, record)]
        words = {question_at(r, shape.query)[1] or text_at(r, shape.query_id) for r in records}
        question_sets.append(words - {""})
    return question_sets


def _are_shared(question_sets: Iterable[set[str]]) -> bool:
    """Whether most questions are asked in several groups."""
    counts = Counter(chain.from_iterable(question_sets)).values()
    return sum(count > 1 for count in counts) * 2 > len(counts)


def systems_beside(values: Sequence[object], shape: Shape) -> list[str]:
    """The names under which any of these objects has the lists of systems beside its question."""
    objects = [] if shape.is_mapped else objects_in([*values])
    systems = (row["system"] for value in objects for row in of_systems(value))
    return [*dict.fromkeys(map(str, systems))]


def shape_of(values: Sequence[object], chosen: Shape | None = None) -> Shape | None:
    """The shape of the first of these values that has one and results, else of the first empty."""
    empty: Shape | None = None
    for value in map(_sampled, values):
        printed = f"{value!r} {_NAMES_OF_ROWS}"
        shapes = (shape for shape in SHAPES if _may_stand(shape, printed))
        for shape in (chosen,) if chosen else shapes:
            record = next((r for r in records(value, shape) if isinstance(r, dict)), None)
            if record is not None and list_of(shape, record).entries:
                return shape
            empty = empty or (shape if record is not None else None)
    return empty


def _may_stand(shape: Shape, printed: str) -> bool:
    """Whether the names of any path to a list of a shape, and of its sign, are in a printed value.

    That is soon seen, and most shapes need names that a file has nowhere.
    """
    return all(
        any(all(name in printed for name in path.split(".")) for path in paths.split("|"))
        for paths in (shape.items, shape.sign)
    )


def _sampled(value: object) -> object:
    """A value whose lists have no more entries than are looked at."""
    if isinstance(value, list):
        return [*map(_sampled, value[:LOOKED_AT])]
    if isinstance(value, dict):
        return {name: _sampled(inner) for name, inner in value.items()}
    return value


def columnar(value: object) -> object:
    """A value that no shape fits, its columns turned into rows.

    They may stand in an object of it, the questions beside that.
    """
    rows = rows_of_columns(value)
    if rows or not isinstance(value, dict):
        return rows or value
    beside = {name: inner for name, inner in value.items() if isinstance(inner, list)}
    inner = (inner for inner in value.values() if isinstance(inner, dict))
    tables = (rows_of_columns(beside | columns) or [] for columns in inner)
    rows = next((rows for rows in tables if any(fits(USUAL, row) for row in rows)), [])
    return [_with_system(row, _system_of(value)) for row in rows] or value


def of_keys(value: Values, place: str = "") -> list[Values] | None:
    """The questions that are the keys of an object, each with its list; ``None`` for none.

    These are several words or, each of them, an id with a digit, unless the keys below them look
    more like questions, or as much where the object is called as systems are.
    """
    role = "query" if any(map(_WORDS.search, value)) else "query_id"
    if not (value and (role == "query" or have_digits(value))):
        return None
    cells = {n: (rows_of_ids(v) or v) if isinstance(v, dict) else v for n, v in value.items()}
    inner_names = [name for cell in cells.values() if isinstance(cell, dict) for name in cell]
    are_systems = _likeness(inner_names) > _likeness(value) - _names_systems(place)
    if are_systems or not _USUAL_NAMES.isdisjoint(map(str.lower, value)):
        return None
    rows: list[Values] = []
    for name, cell in cells.items():
        if isinstance(cell, dict):
            rows.append({role: name} | ({"systems": cell} if systems_in(cell, "systems") else cell))
        elif isinstance(cell, list) and not any(fits(USUAL, entry) for entry in cell[:1]):
            rows.append({role: name, "results": cell})
        else:
            return None
    systems = systems_beside(rows[:LOOKED_AT], USUAL)
    rows = [part for row in rows for part in of_systems(row, systems) or [row]]
    words = [question_at(row, QUERY)[1] for row in rows]
    if role == "query_id" and len({*filter(None, words)}) < sum(map(bool, words)):
        return None  # it is the same questions that each key has
    are_fit = [fits(USUAL, row) for row in rows[:LOOKED_AT]]
    asks = ["system" in row or bool(words) for row, words in zip(rows, words[:LOOKED_AT])]  # noqa: B905
    return rows if all(are_fit) or (all(asks) and any(are_fit)) else None


_LIKE_IDS = 4
"""The likeness of names from which on nothing but questions has them."""


def _likeness(names: Collection[str]) -> int:
    """How much names look like those of questions, 0 for no names at all.

    >>> [_likeness(names) for names in (["q1"], ["red dress"], ["101"], ["BM 25"], ["e5"], ["a"])]
    [6, 5, 4, 3, 2, 1]
    """
    are_words, have_numbers = any(map(_WORDS.search, names)), have_digits(names)
    signs = (
        all(map(_QUESTION_ID.fullmatch, names)),
        are_words and not have_numbers,
        all(map(str.isdecimal, names)),
        *(are_words, have_numbers, True),
    )
    return len(signs) - signs.index(True) if names else 0


def of_systems(value: Values, systems: Sequence[str] = ()) -> list[Values]:
    """A question once for each of the systems whose lists it has; ``[]`` for any other object.

    The lists stand in an object or a list of its own, or beside the question: under the names of
    `systems`, which other questions have, some of them may be empty, or what stands for them.
    """
    for place, inner in (*value.items(), ("", value)):
        holder = _by_system(inner, place) if inner and isinstance(inner, list) else inner
        if not isinstance(holder, dict):
            continue
        by_system = systems_in(holder, place)
        if by_system or not place or _is_of_results(place):
            by_system = {name: holder[name] for name in systems if name in holder} | by_system
        left_out = (place,) if place else by_system
        common = {name: inner for name, inner in value.items() if name not in left_out}
        if not by_system or list_at(common, USUAL_ITEMS).entries is not None:
            continue
        if question_at(common, QUERY)[1] or text_at(common, USUAL.query_id):
            return [common | _of_system(name, inner) for name, inner in by_system.items()]
    return []


def _of_system(system: str, inner: object) -> Values:
    """What a question has of one system: its list, or the values beside it without their id."""
    values = inner if isinstance(inner, dict) else {"results": inner}
    return {n: v for n, v in values.items() if n not in OPEN_IDS} | {"system": system}


def systems_in(value: Values, place: str = "") -> Values:
    """The list of each system by its name, or the object that has the list; ``{}`` for none.

    The lists have results of one kind under names that nobody uses for anything else: objects,
    unless `place` is called as results are and has nothing else.
    """
    holders = {
        name: inner
        for name, inner in value.items()
        if (isinstance(inner, list) or _holds_lists(inner)) and not GOLD.match(name)
    }
    is_map = bool(holders) and len(holders) == len(value) and _is_of_results(place)
    if not is_map and len(holders) < 2:
        return {}
    lists: dict[str, Any] = {
        name: list_at(inner, USUAL_ITEMS).entries if isinstance(inner, dict) else inner
        for name, inner in holders.items()
    }
    is_map = is_map and None not in lists.values()
    firsts: Values = {name: listed[0] for name, listed in lists.items() if listed}
    kinds = {n: _kind_of_item(v) for n, v in firsts.items() if is_map or isinstance(v, dict)}
    kind = max(kinds.values(), key=[*kinds.values()].count, default=())
    names = [name for name in lists if kinds.get(name, kind if is_map else ()) == kind]
    if not kind or len(names) < (len(lists) if is_map else 2):
        return {}
    are_usual = any(name.isdecimal() or plain_name(name) in _USUAL_NAMES for name in names)
    are_objects = len(names) > 1 and all(isinstance(firsts.get(n), dict) for n in names)
    are_systems = not are_usual or (is_map and are_objects)
    return {name: holders[name] for name in names} if are_systems else {}


@lru_cache(maxsize=1024)
def _is_of_results(place: str) -> bool:
    return bool(_OF_RESULTS.fullmatch(plain_name(place)))


def _holds_lists(value: object) -> bool:
    return isinstance(value, dict) and has_objects([*value.values()])


def _by_system(entries: list[object], place: str) -> Values:
    """Objects in a list by the system that each names; ``{}`` where they name no system or one."""
    if not (_holds_lists(entries[0]) and _system_of(entries[0], place)):  # as most lists
        return {}
    by_system = {_system_of(entry, place): entry for entry in entries}
    return by_system if "" not in by_system and len(by_system) == len(entries) else {}


def _kind_of_item(value: object) -> tuple[str, ...]:
    """The names of the id and the text of a result, else of what it has for them, or its type."""
    if not may_be_item(value, USUAL):
        return ()
    if not isinstance(value, dict):
        return (type(value).__name__,)
    roles = guessed(tuple(flattened(value)), of_item=True)
    names = [roles[role] for role in ("doc_id", "text") if role in roles]
    return tuple(names or [roles[role] for role in ("url", "title") if role in roles])
