"""Rows of several files made into runs and grades.

Each result goes to one list: of its system, in its file, for its question. When all files are read,
every list is put in order, every system becomes a run of the same questions, whose items have the
texts that are known of their ids, and every grade finds the question and the item it is of.
"""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite

from msgspec.structs import replace

from relevansi.importers.results.files import File, reading
from relevansi.importers.results.grades import (
    LONGEST_REASON,
    SHOWN_IDS,
    Judged,
    plain_grade,
    unfit,
    verdict_of,
)
from relevansi.importers.results.questions import Question, Questions, plain_text
from relevansi.importers.results.ranks import (
    Entry,
    RankedList,
    id_of,
    in_order,
    rank_base,
    refuse_zero,
)
from relevansi.importers.results.rows import BARE_ID, NAMES_ID, Row, as_text, plain_name
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.kinds.document import Document, beginning, normalised, text_hash
from relevansi.printable import label_line, printable_line
from relevansi.records import QueryState, ReadQuery, ReadRun

MOST_IN_TAIL = 1_000
_OF_TEXT = re.compile("(?:text|title):[0-9a-f]{64}")  # an identity, as exports name what has no id
_SEVERAL = re.compile("[,;|]")  # between ids that are one
_SAME = 6  # characters by which texts of one id are sorted before they are compared


_Source = tuple[str, File]  # a system and the file that has its lists
_Lists = dict[str, RankedList]  # by the keys of their questions


class Gathered:
    """The rows of all files of one import, on their way to runs.

    First ``take`` every file of rows, then ``ids_without_text`` and ``take`` the documents of
    these ids, then ``runs``, then what is ``judged``.
    """

    def __init__(self, depth: int, *, has_passages: bool, grades: Mapping[str, str]) -> None:
        self.depth = depth
        self.sample: list[Row] = []
        self.documents: dict[str, Document] = {}  # of collections, by id
        self.has_passages = has_passages
        self._grade_of = grades
        self._questions = Questions()
        self._spellings: dict[tuple[str, File, str], str] = {}  # of a question, in one file
        self._lists: dict[_Source, _Lists] = defaultdict(lambda: defaultdict(RankedList))
        self._numbers_of_lists: dict[tuple[str, File, str], dict[int, int]] = defaultdict(dict)
        self._grades: list[tuple[File, Row]] = []
        self._items: dict[str, Document | str | None] = {}  # the first of each id
        self._known: dict[str, Document] = {}  # of rows that state a text, by id
        self._versions: dict[tuple[str, str], list[str]] = {}  # beginnings of texts, by id
        self._systems: set[str] = set()
        self._names_of_metadata: set[str] = set()
        self._files_of_results: set[File] = set()  # which have more than grades
        self._listed_identities: set[str] = set()

    def take(self, file: File, rows: Iterable[Row | Document]) -> None:
        """Take the rows of a file, or its documents; raises an `ImportRefused`."""
        with reading(file):
            for row in rows:
                self._add(file, row)

    def _add(self, file: File, row: Row | Document) -> None:
        match row:
            case Row(role="result"):
                self._add_result(file, row)
            case Row(role="document", item=Document() as document) | (Document() as document):
                if document.doc_id:
                    first = self.documents.setdefault(document.doc_id, document)
                    file.counts["results_twice"] += first is not document
            case Row(role="question"):
                self._questions.add_topic(row, file)
            case Row(role="grade") if row.grade not in (None, ""):  # else it is known unjudged
                self._add_item(file, row)

    def _add_item(self, file: File, row: Row) -> None:
        """Take what a result and a grade state alike."""
        if row.item is not None and len(self.sample) < 3:
            self.sample.append(row)
        if row.grade not in (None, ""):
            self._grades.append((file, row))

    def _add_result(self, file: File, row: Row) -> None:
        answered = self._list_of(file, row)
        answered.answer = answered.answer or row.answer
        file.counts["results_answer_differs"] += row.answer not in ("", answered.answer)
        answered.extra |= row.extra
        if row.state is not QueryState.RESULTS:
            answered.state, answered.error = row.state, row.error
        is_blank = row.item is None and row.rank is None and row.score is None
        if is_blank and not answered.items:
            answered.blank = answered.blank or row  # which says that the list is empty
            return
        if answered.blank:  # it is not: something of it cannot be read
            file.error("results_without_item", answered.blank.line)
            answered.add(answered.blank, None)
            answered.blank = None
        if is_blank:
            file.error("results_without_item", row.line)
        if row.system or row.rank is not None or row.score is not None or row.grade in (None, ""):
            self._files_of_results.add(file)
        if isinstance(row.item, Document):
            new_names = row.item.meta.keys() - self._names_of_metadata
            if new_names:
                file.budget.spend("metadata", file, len(new_names))
                self._names_of_metadata |= new_names
        if not (row.rater and answered.is_of_another_rater(row)):
            answered.add(row, self._shared(row.item))
        self._add_item(file, row)

    def _list_of(self, file: File, row: Row) -> RankedList:
        """The list that a row belongs to: of its system in this file, for its question."""
        if row.system not in self._systems:
            file.budget.spend("systems", file)
            self._systems.add(row.system)
        lists = self._lists[row.system, file]
        first = self._questions.key_of(row)
        if not row.query_id:
            # Texts that differ in case or width are one question, but not within one list of one
            # file, where somebody wrote two.
            spelling = self._spellings.setdefault((row.system, file, first), row.query)
            if spelling != row.query:
                first = f"{first}\n{row.query}"
                file.counts["results_case"] += first not in self._questions
        question = self._questions.add(first, row, file)
        # The same question asked twice in one file is two questions.
        numbers = self._numbers_of_lists[row.system, file, first]
        again = numbers.setdefault(row.list_number, len(numbers) + 1)
        key = first if again == 1 else f"{first} ({again})"
        file.counts["results_asked_again"] += again > 1 and key not in lists
        if key not in self._questions:
            number = question.external_id and f"{question.external_id}/{again}"
            text = row.query or question.text  # another question may have the same id
            self._questions[key] = Question(number, text, question.category)
        question = self._questions[key]
        if row.query and question.text != row.query:
            is_another = plain_text(question.text) != plain_text(row.query)
            file.counts["results_question_differs"] += is_another
        return lists[key]

    def _shared(self, item: Document | str | None) -> Document | str | None:
        """An equal item of an earlier row: millions of rows list the same few."""
        doc_id = id_of(item)
        first = self._items.setdefault(doc_id, item) if doc_id else item
        if first is not item and first == item:
            return first
        if isinstance(item, Document) and item.doc_id and item.text:
            self._know(item.doc_id, item)
        return item

    def _know(self, doc_id: str, item: Document) -> None:
        """Keep the texts that are stated of one id, the longest of those that begin alike."""
        first = self._known.setdefault(doc_id, item)
        if first is not item and first.text == item.text:
            return
        text = beginning(item.text)
        versions = self._versions.setdefault((doc_id, text[:_SAME]), [])
        for number, version in enumerate(versions):
            if version.startswith(text) or text.startswith(version):
                versions[number] = max(version, text, key=len)
                return
        versions.append(text)

    def judged_ids(self) -> set[str]:
        """The ids of the documents that have a grade."""
        return {id_of(row.item) for _, row in self._grades} - {""}

    def _leave_out_judgments(self) -> None:
        """Leave out the lists of files that have grades and no order, beside those of others."""
        judgments = [source for source in self._lists if source[1] not in self._files_of_results]
        listed = {key for source in self._lists.keys() - judgments for key in self._lists[source]}
        for source in judgments:
            if not listed.isdisjoint(self._lists[source]):
                del self._lists[source]
                source[1].warn("results_grades_only")

    def ids_without_text(self) -> frozenset[str]:
        """The ids of items that will be cards and have no text yet; puts the lists in order."""
        self._leave_out_judgments()
        bases = {key: rank_base(key[1], [*lists.values()]) for key, lists in self._lists.items()}
        for file in {file for (_, file), base in bases.items() if base == 0}:
            of_file = [source for source in bases if source[1] is file]
            if any(bases[source] == 1 for source in of_file):  # one system counts from 0, not all
                refuse_zero(file, chain.from_iterable(self._lists[key].values() for key in of_file))
        ids: set[str] = set()
        for (system, file), lists in self._lists.items():
            for answered in lists.values():
                self._put_in_order(file, answered, bases[system, file])
                ids |= {
                    entry.doc_id
                    for entry in answered.top
                    if isinstance(entry.item, str) or (entry.item and not entry.item.text)
                }
            if all(answered.state is QueryState.UNREADABLE for answered in lists.values()):
                raise ImportRefused(*(file.remarks() or [error("results_nothing", file.name)]))
        return frozenset(ids - {""})

    def _put_in_order(self, file: File, answered: RankedList, base: int | None) -> None:
        entries = list(map(Entry, answered.ranks, answered.scores, answered.items, answered.lines))
        answered.ranks, answered.scores, answered.items = array("q"), array("d"), []
        answered.lines = array("q")
        if not entries or answered.state is QueryState.UNREADABLE:
            return
        answered.state = QueryState.RESULTS
        ranked = in_order(file, entries, base)
        answered.top = [entry for entry in ranked if entry.rank <= self.depth]
        deeper = [entry.item for entry in ranked if entry.rank > self.depth]
        answered.deeper = [item for item in deeper if item is not None][:MOST_IN_TAIL]
        if not any(entry.item is not None for entry in answered.top):
            if answered.deeper:
                file.error("results_ranks_deep", ranked[0].line, rank=ranked[0].rank)
            answered.state, answered.top, answered.deeper = QueryState.UNREADABLE, [], []

    def runs(self, method: str = "", llm: str = "") -> tuple[ReadRun, ...]:
        """One run for each system, with the questions of all, in one order.

        `method` and `llm` label the run of files that name no system; raises an `ImportRefused`
        where they cannot.
        """
        graded = {self._questions.key_of(row) for _, row in self._grades}
        numbers = self._questions.numbers({*chain.from_iterable(self._lists.values())}, graded)
        versions = Counter(doc_id for (doc_id, _), texts in self._versions.items() for _ in texts)
        several = sum(count > 1 for count in versions.values())
        self.has_passages = self.has_passages or several > 0
        systems = [*self._labelled()]
        if method and (self._systems - {""} or len(systems) > 1):
            names = ", ".join(sorted(label for label, _ in systems))[:200]
            systems[0][1][0][1].refuse("results_method_stated", systems=names)
        runs = tuple(self._run(method or label, llm, lists, numbers) for label, lists in systems)
        if runs:
            first, *_ = self._lists
            first[1].counts["results_passages"] += several
            self._report(first[1], [query for run in runs for query in run.queries])
        return runs

    def _run(
        self, label: str, llm: str, sources: Sequence[_Source], numbers: Mapping[str, int]
    ) -> ReadRun:
        lists: _Lists = defaultdict(RankedList)
        for source in sources:
            lists |= self._lists[source]
        files = list(dict.fromkeys(file for _, file in sources))
        files[0].counts["results_lists_missing"] += len(numbers.keys() - lists.keys())
        queries = tuple(self._query(number, key, lists[key]) for key, number in numbers.items())
        twice = sum(len({c.identity for c in q.cards}) < len(q.cards) for q in queries)
        files[0].counts["results_items_twice"] += twice
        hashes = [file.sha256() for file in files]
        return ReadRun(
            file_format=files[0].format,
            name=files[0].name,
            sha256=hashes[0] if len(hashes) == 1 else _hash("\n".join(hashes)),
            queries=queries,
            search_method=label_line(label),
            llm=llm or None,
            key=_run_key(queries),
        )

    def _labelled(self) -> Iterator[tuple[str, list[_Source]]]:
        """Each system with its lists: of all files, unless two answer the same question.

        Files that name no system are those of their folder's, if each answers other questions, and
        so are those of one question each, wherever they lie.
        """
        by_system: dict[tuple[str, str], list[_Source]] = defaultdict(list)
        for (system, file), lists in self._lists.items():
            group = file.folder or (file.name if len(lists) > 1 else "")
            by_system[system, "" if system else group].append((system, file))
        for (system, folder), sources in by_system.items():
            counts = Counter(key for source in sources for key in self._lists[source])
            if len(sources) == 1:
                yield system or sources[0][1].stem, sources
            elif max(counts.values()) == 1:
                stem = sources[0][1].stem
                yield system or folder or re.sub(r"[\d\W_]+$", "", stem) or stem, sources
            else:
                for _, file in sources:
                    yield f"{system} ({file.name})" if system else file.stem, [(system, file)]

    def _query(self, number: int, key: str, answered: RankedList) -> ReadQuery:
        question = self._questions[key]
        listed = [entry for entry in answered.top if entry.item is not None]
        cards = tuple(map(self._card, listed))
        depth = answered.top[-1].rank if answered.top else 0
        holes = {*range(1, depth + 1)} - {entry.rank for entry in listed}
        tail = tuple(map(self._identity, answered.deeper))
        answered.top, answered.deeper = [], []  # there may be millions
        return ReadQuery(
            query_id=number,
            question=question.text.strip() or question.external_id or "-",
            category=question.category,
            response=answered.answer,
            state=answered.state,
            cards=cards,
            error=answered.error or None,
            context_dependent=False,
            extra={**question.extra, **answered.extra},
            external_id=question.external_id,
            tail=tail,
            holes=tuple(sorted(holes)),
        )

    def _card(self, entry: Entry) -> Document:
        item = Document(doc_id=entry.item) if isinstance(entry.item, str) else entry.item
        assert item is not None
        described = self.documents.get(entry.doc_id) or self._known.get(entry.doc_id)
        if described and not item.text:
            title, url = item.title or described.title, item.url or described.url
            item = replace(described, title=title, url=url, meta={**described.meta, **item.meta})
        score = entry.score if isfinite(entry.score) else None
        return replace(self._with_passage(item), score=score, position=entry.rank - 1)

    def _with_passage(self, item: Document) -> Document:
        if not (self.has_passages and item.doc_id and item.text):
            return item
        text = beginning(item.text)
        versions = self._versions.get((item.doc_id, text[:_SAME]), [])
        longest = next((version for version in versions if version.startswith(text)), text)
        return replace(item, passage=text_hash(longest)[:8])

    def _identity(self, item: Document | str) -> str:
        if isinstance(item, Document):
            return self._with_passage(item).identity
        return item if _OF_TEXT.fullmatch(item) else f"doc:{item}"

    def judged(self) -> tuple[Judged, ...]:
        """The grades of the questions there are; of all where only grades were dropped.

        Raises an `ImportRefused` where a grade is none of a scale and no table says what it is
        here, and where no grade is of any document there is.
        """
        judged: dict[tuple[str, str, str], Judged] = {}
        unasked: set[str] = set()  # identities, for questions that are not here
        grades: dict[str, None] = {}  # for which the table has no verdict
        unfit_grades: list[tuple[File, Row, str]] = []
        for file, row in self._grades:
            key = self._questions.key_of_graded(row)
            identity = self._identity(row.item or "")
            if self._questions and key not in self._questions:
                file.counts["results_grades_unknown"] += 1
                unasked.add(identity)
                continue
            text = as_text(row.grade).strip()
            verdict = verdict_of(text, self._grade_of)
            if verdict.startswith("-"):
                file.counts["results_grades_below"] += 1
                continue
            if not verdict or plain_grade(text) not in self._grade_of:
                grades[plain_grade(text[:40])] = None
            if not verdict:
                unfit_grades.append((file, row, text))
                continue
            question = self._questions.get(key) or Question(row.query_id or None, row.query)
            about = (question.external_id, question.text, identity)
            grade = Judged(*about, verdict, row.rater, printable_line(row.reason)[:LONGEST_REASON])
            first = judged.setdefault((key, identity, row.rater), grade)
            is_again = first is not grade and not row.rater and file not in self._files_of_results
            file.counts["results_grades_twice"] += is_again and first == grade
            file.counts["results_grades_differ"] += first != grade
        if unfit_grades:
            raise unfit(*unfit_grades[0], [*grades])
        if self._lists and (judged or unasked):
            self._check_that_grades_apply({grade.identity for grade in judged.values()}, unasked)
        return tuple(judged.values())

    def _check_that_grades_apply(self, judged: set[str], unasked: set[str]) -> None:
        """Raise an `ImportRefused` where no grade is of a document of the lists or collections.

        These are the identities of what is graded, and of what is so for other questions.
        """
        graded = {identity.partition("#")[0] for identity in judged}
        listed = {identity.partition("#")[0] for identity in self._listed_identities}
        if graded.isdisjoint(listed | {f"doc:{doc_id}" for doc_id in self.documents}):
            file, _ = self._grades[0]
            graded |= unasked
            ids = ", ".join(sorted(graded)[:SHOWN_IDS])
            file.refuse("results_grades_apply_to_none", count=len(graded), ids=ids)

    def _report(self, file: File, queries: Sequence[ReadQuery]) -> None:
        cards = {card.identity: card for query in queries for card in query.cards}
        self._listed_identities = {*cards, *(identity for q in queries for identity in q.tail)}
        blank = [card.doc_id or "-" for card in cards.values() if not (card.text or card.title)]
        if blank:
            ids = ", ".join(blank[:SHOWN_IDS])
            file.warn("results_without_text", count=len(blank), of=len(cards), ids=ids)
        _report_unread(file, cards.values())
        lengths = [len(query.cards) for query in queries if query.cards]
        are_several = all(_SEVERAL.search(card.doc_id or ",") for card in cards.values())
        if len(lengths) > 1 and max(lengths) == 1 and are_several:
            file.warn("results_one_each")
        doc_ids = {name.removeprefix("doc:").partition("#")[0] for name in self._listed_identities}
        doc_ids |= self.judged_ids()
        zeros = sorted(name for name in doc_ids if name[:1] == "0" and name.lstrip("0") in doc_ids)
        if zeros:
            file.warn("results_zeros_lost", count=len(zeros), ids=", ".join(zeros[:SHOWN_IDS]))
        untold = {q.query_id for q in queries if q.question in ("-", q.external_id)}
        file.counts["results_without_ids"] += sum(card.doc_id is None for card in cards.values())
        file.counts["results_questions_untold"] += len(untold)
        file.counts["results_holes"] += sum(bool(query.holes) for query in queries)


def _report_unread(file: File, cards: Iterable[Document]) -> None:
    """Report the metadata that may be the text, or the id, of the documents without one."""
    for role in ("text", "doc_id"):
        lacking = [card for card in cards if not getattr(card, role)]
        values: dict[str, list[str]] = defaultdict(list)
        for card in lacking:
            for name, value in card.meta.items():
                text = str(value)
                is_id = NAMES_ID.search(plain_name(name)) and BARE_ID.fullmatch(text)
                if " " in text if role == "text" else is_id:
                    values[name].append(text)
        likely = [name for name in values if len({*values[name]}) * 2 > len(lacking)]
        if likely:
            column = max(likely, key=lambda name: sum(map(len, values[name])))
            file.warn("results_role_unread", role=role, column=column, map=f"{role}={column}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _run_key(queries: Iterable[ReadQuery]) -> str:
    lists = [
        (
            query.external_id or normalised(query.question),
            [*(card.identity for card in query.cards), *query.tail],
            query.response,
            *([list(query.holes)] if query.holes else ()),
        )
        for query in queries
    ]
    return _hash(json.dumps(lists))
