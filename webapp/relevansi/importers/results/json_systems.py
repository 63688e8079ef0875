"""The questions in a JSON value, and the systems whose lists they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from relevansi.importers.results.json_questions import (
    DEEPEST,
    GOLD,
    LOOKED_AT,
    NO_ENVELOPES,
    fits,
    have_digits,
    list_at,
    list_of,
    may_be_item,
    question_at,
    rows_of_ids,
)
from relevansi.importers.results.records import (
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
_SYSTEMS = (
    *("system", "run", "method", "retriever", "engine", "strategy", "search_method"),
    *("sistem", "metode"),
)
"""Names under which the object around several lists has their system."""
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
_USUAL_NAMES = NAMES | {
    name.lower()
    for names in (*QUESTION_ROLES.values(), *ITEM_ROLES.values())
    for name in names.split()
    if name != "keyword"  # search by which is one beside that by vectors
}
"""Names of which nobody's system has one."""


def _systems_of(value: Values, place: str = "") -> Values:
    """What an object says of the system of all lists in it; at the `place` of one, its name."""
    texts = {name: value[name] for name in _SYSTEMS if isinstance(value.get(name), str)}
    paths = "run_name|system.name|retriever.name|config.name"
    label = text_at(value, f"{paths}|{_OF_NAMED}" if _names_systems(place) else paths)
    return texts or ({"system": label} if label else {})


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
        are_systems = _names_systems(place) and not _are_questions(value, are_outer=True)
        inner = [*_in_object(value, shape, depth, place)] if are_systems else []
        by_key = shape.is_usual and not inner and of_keys(value)
        yield from inner or by_key or _in_object(value, shape, depth, place)


def _in_object(value: Values, shape: Shape, depth: int, place: str) -> Iterator[object]:
    """The objects that fit in the values of an object, and systems and questions without a list.

    Its names are those of systems where nothing else is beside them, or their lists ask alike.
    """
    nested = {
        name: inner
        for name, inner in value.items()
        if isinstance(inner, dict | list | None) and not GOLD.match(name)
    }
    by_name = {n: [*records(v, shape, depth=depth + 1, place=n)] for n, v in nested.items()}
    groups = {name: questions for name, questions in by_name.items() if questions}
    if not groups:
        return
    others = {
        name: inner
        for name, inner in nested.items()
        if not (name in groups or name.lower() in _USUAL_NAMES or NO_ENVELOPES.fullmatch(name))
    }
    are_alone = len(nested) == len(value)
    are_systems = len(groups) > 1 and (are_alone or _ask_alike([*groups.values()], shape))
    if len(groups) == 1 and are_alone:
        ((name, questions),) = groups.items()
        are_named = not any(_OF_QUESTIONS.fullmatch(plain_name(name)) for name in (name, *others))
        may_be_one = _names_systems(place) or any(map(_is_nothing, others.values()))
        are_systems = are_named and may_be_one and questions[0] is not nested[name]
    are_systems = are_systems and _USUAL_NAMES.isdisjoint(map(str.lower, groups))
    around = _systems_of(value, place)
    for name, inner in nested.items():
        system: Values = {"system": name} if are_systems else around
        yield from (_with_system(record, system) for record in by_name[name])
        asks = isinstance(inner, dict) and question_at(inner, shape.query)[1]
        if name not in groups and (asks or (are_systems and name in others)):
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
    head = [row for entry in value[:LOOKED_AT] for row in _by_list(entry, shape, systems)]
    if any(fits(shape, row) for row in head):
        label = _told_apart(head, shape)
        rows = (row for entry in value for row in _by_list(entry, shape, systems))
        yield from (_with_label(row, label, row) for row in rows)
    elif depth < DEEPEST:
        groups = [
            [*records(entry, shape, systems, depth=depth + 1, place=place)] for entry in value
        ]
        label = label_of(value, groups, shape)
        for entry, group in zip(value, groups, strict=True):
            yield from (_with_label(record, label, entry) for record in group)
            if not group and any(groups):
                yield entry


def _with_label(record: object, label: str, entry: object) -> object:
    """A record with the system that an entry names under a label, "" for none."""
    return _with_system(record, {"system": text_at(entry, label)} if label else {})


def _with_system(record: object, system: Values) -> object:
    return system | record if isinstance(record, dict) else record


def _by_list(value: object, shape: Shape, systems: Sequence[str]) -> Sequence[object]:
    """A value, or a question once for each of its systems unless a person chose its list."""
    if not isinstance(value, dict) or shape.is_mapped:
        return [value]
    return of_systems(value, systems) or [value]


_LABELS = ("name", "label", "experiment", "variant", "pipeline")


def label_of(entries: Sequence[object], groups: Sequence[Sequence[object]], shape: Shape) -> str:
    """The name under which objects say which system each is; "" where they ask other questions.

    `groups` are the questions in each of them, or each is one itself.
    """
    if any(
        record is entry for entry, group in zip(entries, groups, strict=True) for record in group
    ):
        return _told_apart([*chain.from_iterable(groups)], shape)
    if not _ask_alike(groups, shape):
        return ""
    for name in _LABELS:
        labels = {text_at(entry, name) for entry in entries}
        if "" not in labels and len(labels) == len(entries):
            return name
    return ""


def _told_apart(records: Sequence[object], shape: Shape) -> str:
    """The only name under which records have texts that each question has once, "" for none.

    A name or texts of the occasion (a date, an id) tell runs of one system apart, not systems.
    """
    objects = objects_in([*records])
    questions = [
        question_at(record, shape.query)[1] or text_at(record, shape.query_id) for record in objects
    ]
    counts = Counter(questions)
    most = max(counts.values(), default=0)
    if most < 2 or len(counts) < 2 or any(text_at(record, shape.system) for record in objects):
        return ""
    names: list[str] = []
    for name in objects[0]:
        texts = [text for record in objects if isinstance(text := record.get(name), str)]
        are_all = len(texts) == len(objects) and len({*texts}) == most
        if not are_all or len({*zip(questions, texts, strict=True)}) < len(objects):
            continue
        is_occasion = _OF_OCCASIONS.search(plain_name(name)) or all(map(_OCCASION.fullmatch, texts))
        if not is_occasion and guessed((name,)).keys().isdisjoint(("answer", "category", "rater")):
            names.append(name)
    return names[0] if len(names) == 1 else ""


def _ask_alike(groups: Sequence[Sequence[object]], shape: Shape) -> bool:
    """Whether most questions of these groups are asked in several of them."""
    questions = ({question_at(record, shape.query)[1] for record in group} for group in groups)
    counts = Counter(chain.from_iterable(questions))
    return sum(count > 1 for count in counts.values()) * 2 > len(counts)


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
            objects = (record for record in records(value, shape) if isinstance(record, dict))
            record = next(objects, None)
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
    return [_systems_of(value) | row for row in rows] or value


def of_keys(value: Values) -> list[Values] | None:
    """The questions that are the keys of an object, each with its list; ``None`` for none.

    These are several words or, each of them, an id with a digit.
    """
    are_texts = any(re.search(r"\S\s+\S", name) or not name.isascii() for name in value)
    are_ids = have_digits(value)
    if not (value and (are_texts or are_ids)) or not _USUAL_NAMES.isdisjoint(map(str.lower, value)):
        return None
    if _are_questions(value, are_outer=False):
        return None
    role = "query" if are_texts else "query_id"
    answered = [(n, v) for n, v in value.items() if isinstance(v, dict)][:LOOKED_AT]
    beside = systems_beside([{"query": n, **v} for n, v in answered], USUAL)
    systems = beside or systems_beside([{"query": n, "systems": v} for n, v in answered], USUAL)
    rows: list[Values] = []
    for name, inner in value.items():
        listed = (rows_of_ids(inner) or inner) if isinstance(inner, dict) else inner
        if isinstance(listed, list):
            rows.append({role: name, "results": listed})
        elif isinstance(listed, dict):
            row: Values = {role: name, **listed}
            alone: Values = {role: name, "systems": listed}
            rows += of_systems(row, systems) or of_systems(alone, systems) or [row]
        else:
            return None
    words = [question_at(row, QUERY)[1] for row in rows]
    if are_ids and len({*filter(None, words)}) < sum(map(bool, words)):
        return None  # it is the same questions that each key has
    are_fit = [fits(USUAL, row) for row in rows[:LOOKED_AT]]
    asks = ["system" in row or bool(words) for row, words in zip(rows, words[:LOOKED_AT])]  # noqa: B905
    return rows if all(are_fit) or (all(asks) and any(are_fit)) else None


def _are_questions(value: Values, *, are_outer: bool) -> bool:
    """Whether only the outer names, or only the inner ones, of an object are called as questions.

    >>> _are_questions({"q1": {"bm25": []}, "q2": {"bm25": []}}, are_outer=True)
    True
    """
    inner_names = [name for inner in value.values() if isinstance(inner, dict) for name in inner]
    outer, inner = (all(map(_QUESTION_ID.fullmatch, names)) for names in (value, inner_names))
    return bool(inner_names) and outer is are_outer and inner is not are_outer


def of_systems(value: Values, systems: Sequence[str] = ()) -> list[Values]:
    """A question once for each of the systems whose lists it has; ``[]`` for any other object.

    The lists stand in an object or a list of its own, or beside the question: under the names of
    `systems`, which other questions have, some of them may be empty, or what stands for them.
    """
    for place, holder in _holders_of_systems(value):
        by_system = systems_in(holder, place)
        if by_system or not place or _is_of_results(place):
            by_system = {name: holder[name] for name in systems if name in holder} | by_system
        if not by_system:
            continue
        left_out = (place,) if place else by_system
        common = {name: inner for name, inner in value.items() if name not in left_out}
        if list_at(common, USUAL_ITEMS).entries is not None:
            continue
        if question_at(common, QUERY)[1] or text_at(common, USUAL.query_id):
            return [common | _of_system(name, inner) for name, inner in by_system.items()]
    return []


def _holders_of_systems(value: Values) -> Iterator[tuple[str, Values]]:
    """The objects in an object by their names, those in a list by their systems; itself last."""
    for place, inner in value.items():
        holder = _by_system(inner, place) if isinstance(inner, list) else inner
        if isinstance(holder, dict) and holder:
            yield place, holder
    yield "", value


def _of_system(system: str, inner: object) -> Values:
    """What a question has of one system: its list, or the values beside it without their id."""
    values = inner if isinstance(inner, dict) else {"results": inner}
    return {n: v for n, v in values.items() if n not in OPEN_IDS} | {"system": system}


def systems_in(value: Values, place: str = "") -> Values:
    """The list of each system by its name, or the object that has the list; ``{}`` for none.

    The lists have objects with the same id or text under names that nobody uses for anything else.
    Where `place` is called as results are, and has nothing else, either is enough.
    """
    holders = {n: v for n, v in value.items() if isinstance(v, list) or _holds_lists(v)}
    if not holders:
        return {}
    is_map = len(holders) == len(value) and _is_of_results(place)
    if not is_map and len(holders) == 1:
        return {}
    lists: dict[str, list[object]] = {}
    for name, inner in holders.items():
        listed = list_at(inner, USUAL_ITEMS).entries if isinstance(inner, dict) else inner
        if isinstance(listed, list) and not GOLD.match(name):
            lists[name] = listed
    is_map = is_map and len(lists) == len(value)
    lists = lists if is_map else _of_most_items(lists)
    firsts = [listed[0] for listed in lists.values() if listed]
    are_items = all(may_be_item(first, USUAL) for first in firsts)
    if not are_items or len({*map(_kind_of_item, firsts)}) > 1:
        return {}
    have_objects = len(firsts) == len(lists) > 1 and isinstance(firsts[0], dict)
    have_own_names = _USUAL_NAMES.isdisjoint(map(plain_name, lists))
    have_own_names = have_own_names and not any(map(str.isdecimal, lists))
    is_enough = have_objects or (have_own_names and (len(lists) > 1 or bool(firsts)))
    are_systems = is_enough if is_map else have_objects and have_own_names
    return {name: holders[name] for name in lists} if are_systems else {}


@lru_cache(maxsize=1024)
def _is_of_results(place: str) -> bool:
    return bool(_OF_RESULTS.fullmatch(plain_name(place)))


def _of_most_items(lists: Mapping[str, list[object]]) -> dict[str, list[object]]:
    """Those of several lists that have objects with the same names of id and text as most have."""
    kinds = {
        name: _kind_of_item(listed[0])
        for name, listed in lists.items()
        if listed and isinstance(listed[0], dict)
    }
    most = Counter(filter(None, kinds.values())).most_common(1)
    return {name: lists[name] for name, kind in kinds.items() if most and kind == most[0][0]}


def _holds_lists(value: object) -> bool:
    return isinstance(value, dict) and has_objects([*value.values()])


def _by_system(entries: list[object], place: str) -> Values:
    """Objects in a list by the system that each names; ``{}`` where they name no system or one."""
    if not any(map(_holds_lists, entries[:LOOKED_AT])):
        return {}
    paths = f"{USUAL.system}|{_OF_NAMED}" if _names_systems(place) else USUAL.system
    if not text_at(entries[0], paths):  # soon seen of most lists
        return {}
    by_system = {text_at(entry, paths): entry for entry in entries}
    return by_system if "" not in by_system and len(by_system) == len(entries) else {}


def _kind_of_item(value: object) -> tuple[str, ...]:
    """The names of the id and the text of an object in a list, else of what it has for them."""
    if not isinstance(value, dict):
        return (type(value).__name__,)
    roles = guessed(tuple(flattened(value)), of_item=True)
    names = [roles[role] for role in ("doc_id", "text") if role in roles]
    return tuple(names or [roles[role] for role in ("url", "title") if role in roles])
