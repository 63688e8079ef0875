"""A proof pack made anew from its own rows: equal, or which files and figures differ.

The rows are put into an empty database, and everything else is exported from there again. Every
difference is reported with the figures that it would change.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, Study
from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.exporters.proof_packs import pack as packed_files
from webapp.failures import Failure
from webapp.i18n import SOURCE_LANGUAGE, speaking
from webapp.importers.proof_packs.pack import ProofPack, UnreadableMember
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.proof_packs import proof_files
from webapp.records import Tell, nobody
from webapp.services.exports import exports
from webapp.services.judging import verdicts as verdicts_of
from webapp.services.judging.events import standing
from webapp.services.planning import pack_part
from webapp.services.proof_packs import differences as pack_differences
from webapp.services.proof_packs import packs, rereading, rows
from webapp.services.proof_packs.differences import (
    DifferenceKind,
    Differences,
    Found,
    PackDifference,
    Place,
    Value,
)
from webapp.services.proof_packs.rereading import Otherwise
from webapp.services.proof_packs.rows import UnfitRows
from webapp.services.runs import reports
from webapp.services.runs import runs as run_rows
from webapp.services.runs.reports import Rule

ROWS = "study/*.json"
"""The source of all that is made anew."""

EVENTS, JUDGMENTS, RATINGS = map(proof_files.of_table, ("events", "judgments", "query_ratings"))
_DIFFERING: Mapping[str, Callable[[bytes, bytes], Iterator[Found]]] = {
    proof_files.VERDICTS: partial(pack_differences.tables, keys=slice(6)),
    proof_files.RATED: partial(pack_differences.tables, keys=slice(1)),
    proof_files.RATED_BY_EACH: partial(pack_differences.tables, keys=slice(1)),
    proof_files.JUDGMENTS: partial(pack_differences.tables, keys=slice(2, 4)),
    proof_files.QRELS: partial(pack_differences.trec_files, values=slice(3, 4)),
    proof_files.RUN_FILE: partial(pack_differences.trec_files, values=slice(3, 6)),
}
"""How a member is explained where its bytes differ; of others, JSON is walked."""

_FIGURES = ("figures.json", "comparisons/", "planning/figures.json")
_NO_STUDY = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(AssertionError, RecursionError, Failure, SQLAlchemyError),
)
"""What rows that no study has may lead to, however well each fits its table."""

Key = tuple[int, int]
"""A rater and a judged thing, or a rater and an answer."""


class Verification(Struct, frozen=True):
    """The result of verifying a pack.

    ``fingerprint`` is the SHA-256 of its manifest. ``files`` and ``figures`` count those
    compared; ``left_out`` counts differences beyond those kept. ``texts`` has the lines that
    differ in each file that was compared byte for byte, as a unified diff.
    """

    name: str
    fingerprint: str
    version: str
    created_at: datetime
    study: str
    rule: str
    runs: tuple[str, ...]
    files: int
    figures: int
    differences: tuple[PackDifference, ...]
    left_out: int
    texts: Mapping[str, tuple[str, ...]]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verify(pack: ProofPack, tell: Tell = nobody) -> Verification:
    """Return where the members of `pack` are not what its rows make them; `tell` counts steps."""
    with speaking(SOURCE_LANGUAGE):
        work = _Work(pack)
        work.do(tell)
    manifest = pack.manifest
    return Verification(
        name=pack.name,
        fingerprint=pack.fingerprint,
        version=manifest.product.version,
        created_at=manifest.created_at,
        study=manifest.study,
        rule=manifest.rule,
        runs=tuple(work.runs),
        files=len(manifest.files),
        figures=work.figures,
        differences=tuple(work.differences.found),
        left_out=work.differences.left_out,
        texts=work.differences.texts,
    )


class _Work:
    """One verification under way."""

    def __init__(self, pack: ProofPack) -> None:
        self.pack = pack
        self.manifest = pack.manifest
        self.differences = Differences()
        self.figures = 0
        self.runs: list[str] = []

    def do(self, tell: Tell) -> None:
        """Compare everything, the hashes first."""
        self._hashes()
        stated = self._rows()
        if stated is None:
            return
        place = ROWS
        try:
            with rows.loaded(stated) as (session, study):
                made = self._judged_by_events(session)
                self._make(session, study, tell)
            if made is not None:
                place = EVENTS
                with rows.loaded({**stated, **made}) as (session, study):
                    self._changed(session, study, EVENTS)
        except UnfitRows as wrong:
            table, why = map(str, wrong.args)
            self._add(DifferenceKind.UNREADABLE, proof_files.of_table(table), (), why)
        except _NO_STUDY as wrong:
            why = f"{type(wrong).__name__} {wrong}"
            self._add(DifferenceKind.UNREADABLE, place, (), pack_differences.scalar(why))

    def _hashes(self) -> None:
        listed = {file.name: file.sha256 for file in self.manifest.files}
        for name in sorted(self.pack.names - set(listed) - {proof_files.MANIFEST}):
            self._add(DifferenceKind.UNLISTED, name)
        for name, stated in listed.items():
            if name not in self.pack.names:
                self._add(DifferenceKind.MISSING, name)
                continue
            found = self._tried(partial(self.pack.digest, name))
            if found is not None and found != stated:
                self._add(DifferenceKind.HASH, name, (), stated, found, proof_files.MANIFEST)

    def _rows(self) -> dict[str, Any] | None:
        """Return the rows by table; ``None`` if a table cannot be read."""
        found: dict[str, Any] = {}
        for table in sorted(rows.NAMES):
            name = proof_files.of_table(table)
            if name not in self.pack.names:
                if any(file.name == name for file in self.manifest.files):
                    return None  # which is reported already
                continue  # the pack is of an earlier version
            read = self._tried(partial(self.pack.json, name))
            if read is None:
                return None
            found[table] = read
        return found

    def _judged_by_events(self, session: Session) -> dict[str, list[dict[str, Any]]] | None:
        """Return the rows of judgments that the events make; ``None`` if those are stated.

        A machine's are taken as stated: its events are in no pack.
        """
        verdicts, ratings = _made(session.scalars(select(Event).order_by(Event.id)))
        machines = set(session.scalars(select(Rater.id).where(Rater.is_machine)))
        said = {
            (one.rater_id, one.judged_thing_id): one.verdict
            for one in session.scalars(select(Judgment))
            if one.rater_id not in machines
        }
        rated = {
            (one.rater_id, one.query_key): (one.quality, one.notes)
            for one in session.scalars(select(QueryRating))
        }
        shown = set(session.scalars(verdicts_of.judged_things(Query.id.is_not(None))))
        answers = set(session.scalars(select(Query.id)))
        verdicts = {key: new for key, new in verdicts.items() if key[1] in shown}
        ratings = {key: new for key, new in ratings.items() if key[1] in answers}
        before = self.differences.count
        for key in dict.fromkeys((*said, *verdicts)):
            if said.get(key) != verdicts.get(key):
                place = _thing(session, *key)
                self._verdict(JUDGMENTS, place, said.get(key), verdicts.get(key))
        for key in dict.fromkeys((*rated, *ratings)):
            one, other = rated.get(key, (None, "")), ratings.get(key, (None, ""))
            for name, stated, made in zip(("quality", "notes"), one, other, strict=True):
                if stated != made:
                    self._verdict(RATINGS, (*_answer(session, *key), name), stated, made)
        if self.differences.count == before:
            return None
        some_time = "2000-01-01T00:00:00+00:00"
        return {
            "judgments": [
                {
                    "rater_id": rater,
                    "judged_thing_id": thing,
                    "verdict": new,
                    "changed_at": some_time,
                }
                for (rater, thing), new in verdicts.items()
            ],
            "query_ratings": [
                {
                    "rater_id": rater,
                    "query_key": answer,
                    "changed_at": some_time,
                    "quality": quality,
                    "notes": notes,
                }
                for (rater, answer), (quality, notes) in ratings.items()
            ],
        }

    def _make(self, session: Session, study: Study, tell: Tell) -> None:
        """Make every member from the rows, and compare it."""
        pack_part.draw_again(session, partial(_verdicts_before, session))
        found = run_rows.in_order(session, study)
        found.sort(key=lambda run: run.question_set_id)
        self.runs = [run.id for run in found]
        rule = reports.rule_of(session, study, self.manifest.rule)
        one = self.manifest.resampling
        settings = Resampling(one.resamples, one.seed, one.confidence)
        self._facts(packs.facts(session, study, found, rule, settings))
        made: set[str] = set()
        for name, computed in packs.members(session, study, found, rule, settings, tell=tell):
            made.add(name)
            self._compare(name, computed)
            self._effects(name, computed, session, study, rule)
        known = {*made, *map(proof_files.of_table, rows.NAMES), proof_files.README}
        for file in self.manifest.files:
            if file.name not in known:
                self._add(DifferenceKind.CELL, file.name, (), "-", None, ROWS)

    def _facts(self, facts: Mapping[str, Any]) -> None:
        """Compare what the manifest states of the study; definitions are those of its version."""
        stated = self.pack.json(proof_files.MANIFEST)
        assert isinstance(stated, dict)
        computed = json.loads(packed_files.json_file(facts))
        own = {key: stated[key] for key in computed if key in stated}
        self._differ(DifferenceKind.CELL, proof_files.MANIFEST, own, computed)

    def _compare(self, name: str, computed: bytes) -> None:
        """Compare a member byte for byte, and say where it differs."""
        kind = DifferenceKind.FIGURE if _holds_figures(name) else DifferenceKind.CELL
        if name.endswith(".json"):
            self.figures += pack_differences.numbers(json.loads(computed))
        if name not in self.pack.names and all(one.name != name for one in self.manifest.files):
            self._add(DifferenceKind.MISSING, name)
            return
        stated = self._tried(partial(self.pack.read, name))
        if stated is None or stated == computed:
            return
        try:
            if name.endswith(".json"):
                document = self.pack.json(name)
                self._differ(kind, name, document, json.loads(computed))
                return
            differing = _DIFFERING.get(name.rpartition("/")[2])
            found = [*differing(stated, computed)] if differing else []
        except UnreadableMember as broken:
            self._add(DifferenceKind.UNREADABLE, name, (), broken.why)
            return
        except ValueError as broken:
            self._add(DifferenceKind.UNREADABLE, name, (), pack_differences.scalar(str(broken)))
            return
        found = found or [((), "other bytes", "")]
        self.differences.add_all(kind, name, ROWS, iter(found))
        self.differences.texts[name] = pack_differences.text_lines(stated, computed, name, ROWS)

    def _differ(self, kind: DifferenceKind, name: str, stated: object, computed: object) -> None:
        found = pack_differences.documents(stated, computed)
        self.differences.add_all(kind, name, ROWS, found)

    def _effects(
        self, name: str, computed: bytes, session: Session, study: Study, rule: Rule
    ) -> None:
        """Report the figures that the judgments of a member that differs would change."""
        if all(one.file != name for one in self.differences.found):
            return
        run, _, member = name.removeprefix("runs/").partition("/")
        read: Mapping[str, Callable[[], Otherwise]] = {
            proof_files.JUDGMENTS: lambda: rereading.of_judgments(self.pack.read(name), report),
            proof_files.QRELS: lambda: rereading.of_qrels(
                self.pack.read(name), exports.trec_results(session, study, run, rule), report
            ),
            proof_files.RUN_JSON: lambda: rereading.of_run_json(self.pack.json(name), report),
        }
        try:
            if name == proof_files.VERDICTS:
                stated = rereading.of_verdicts(self.pack.read(name), computed)
                self._rejudged(session, study, stated)
            elif member in read:
                report = reports.report(session, study, run, rule)
                otherwise = read[member]()
                if otherwise:
                    figures = metrics_json(rereading.judged_otherwise(report, otherwise))
                    self._moved(run, {rule.name: figures}, name)
        except (UnreadableMember, ValueError):
            return  # which is reported already

    def _rejudged(self, session: Session, study: Study, stated: Mapping[int, str]) -> None:
        """Report the figures under the verdicts `stated` in some lines of the table of verdicts."""
        runs = session.scalars(select(Run).order_by(Run.id)).all()
        keys = [key for key, _ in packs.given_verdicts(session, study, runs)]
        had: dict[Key, str | None] = {}
        for line, verdict in stated.items():
            row = session.get_one(Judgment, keys[line])
            had[keys[line]], row.verdict = row.verdict, verdict
        session.flush()
        self._changed(session, study, proof_files.VERDICTS)
        for key, before in had.items():
            session.get_one(Judgment, key).verdict = before
        session.flush()

    def _changed(self, session: Session, study: Study, source: str) -> None:
        for run in session.scalars(select(Run.id)).all():
            self._moved(run, packs.figures(session, study, run), source)

    def _moved(self, run: str, made: Mapping[str, Any], source: str) -> None:
        """Report where figures that `source` would make are not those stated."""
        name = proof_files.of_run(run, proof_files.FIGURES)
        stated = self._tried(partial(self.pack.json, name))
        if isinstance(stated, dict):
            own = {rule: stated.get(rule) for rule in made}
            found = pack_differences.documents(own, json.loads(json.dumps(made)))
            self.differences.add_all(DifferenceKind.FIGURE, name, source, found)

    def _verdict(self, file: str, place: Place, stated: Value, computed: Value) -> None:
        values = pack_differences.scalar(stated), pack_differences.scalar(computed)
        self._add(DifferenceKind.VERDICT, file, place, *values, EVENTS)

    def _add(
        self,
        kind: DifferenceKind,
        file: str,
        place: Place = (),
        stated: Value = None,
        computed: Value = None,
        source: str = "",
    ) -> None:
        self.differences.add(PackDifference(kind, file, place, stated, computed, source))

    def _tried(self, read: Callable[[], Any]) -> Any:
        """Return the result of `read`; ``None``, and a difference, if a member is unreadable."""
        try:
            return read()
        except UnreadableMember as wrong:
            known = any(one.file == wrong.name for one in self.differences.found)
            if wrong.name in self.pack.names or not known:
                self._add(DifferenceKind.UNREADABLE, wrong.name, (), wrong.why)
            return None


def _holds_figures(name: str) -> bool:
    return any(part in name for part in _FIGURES)


def _made(
    events: Iterator[Event] | Sequence[Event],
) -> tuple[dict[Key, str], dict[Key, tuple[int | None, str]]]:
    """Return the verdicts and the ratings in force once the events are in order."""
    histories: dict[tuple[str, int, int], list[Event]] = defaultdict(list)
    for event in events:
        about = event.judged_thing_id if event.field == "verdict" else event.query_key
        if event.field in {"verdict", "quality", "notes"} and about is not None:
            histories[event.field, event.rater_id, about].append(event)
    verdicts: dict[Key, str] = {}
    ratings: dict[Key, tuple[int | None, str]] = {}
    for (field, *key), history in histories.items():
        last = standing(history)
        new = last.new if last else None
        place = key[0], key[1]
        quality, notes = ratings.get(place, (None, ""))
        if field == "verdict" and new:
            verdicts[place] = new
        elif field == "quality" and new:
            ratings[place] = int(new), notes
        elif field == "notes" and new:
            ratings[place] = quality, new
    return verdicts, ratings


def _verdicts_before(session: Session, question_set: int, moment: datetime) -> int:
    of_set = select(JudgedThing.id).join(Question).where(Question.question_set_id == question_set)
    earlier = select(Event).where(Event.judged_thing_id.in_(of_set), Event.received_at < moment)
    verdicts, _ = _made(session.scalars(earlier.order_by(Event.id)).all())
    return len(verdicts)


def _thing(session: Session, rater: int, thing_id: int) -> Place:
    thing = session.get(JudgedThing, thing_id)
    if thing is None:
        return (_called(session, rater), str(thing_id))
    question = session.get_one(Question, thing.question_id)
    what = f"{thing.property.identity}/{thing.content}" if thing.property else "empty list"
    at = f"question {question.question_set_id}/{question.position}"
    run = () if thing.run_id is None else (f"run {thing.run_id}",)
    return (_called(session, rater), at, what, *run)


def _answer(session: Session, rater: int, answer: int) -> Place:
    query = session.get_one(Query, answer)
    return (_called(session, rater), query.run_id, f"query_id {query.query_id}")


def _called(session: Session, rater_id: int) -> str:
    rater = session.get(Rater, rater_id)
    return rater.name if rater else str(rater_id)
