"""A proof pack put back into an empty database in memory, and exported from there again.

The judgments may be those that the pack states or those that its events make.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool, StaticPool

from webapp.db.tables.agreement import Adjudication
from webapp.db.tables.base import Base
from webapp.db.tables.judging import JudgedThing, Judgment, Property, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.exporters.exports.trec import TrecResult
from webapp.importers.proof_packs.pack import Manifest, ManifestRun
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.judging.figures import RunReport
from webapp.metrics.proof_packs import proof_files
from webapp.metrics.proof_packs.evidence import SetQuestion, ShownQuery, ShownRun, Thing
from webapp.records import Card
from webapp.services.comparisons import comparisons
from webapp.services.exports import exports
from webapp.services.judging.judged_things import to_row
from webapp.services.proof_packs import packs
from webapp.services.proof_packs.packed_judgments import PackedJudgments
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule

_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Of rows whose time is in no member that is exported again."""

MOST_RESAMPLES = 100_000
"""A comparison drawn more often is not drawn again: it would take an hour."""

COMPARED = {
    proof_files.RUN_JSON: {
        *("run", "search_method", "llm", "question_set", "source_file", "sha256", "rule"),
        "cannot_tell",
        *("queries", "query_id", "question", "category", "state", "empty_outcome", "quality"),
        *("notes", "results", "rank", "title", "relevance", "not_asked"),
    },
    "comparison": {
        *("rule", "cannot_tell", "raters", "settings", "composite", "runs"),
        *("differences", "stability", "signed_rank", "questions"),
    },
}
"""The keys that follow from lists and judgments; others name the study, its times and cards."""

SINCE_THEN = ("signed_rank",)
"""The keys of a comparison that follow from them too, but are not in the first packs."""

OF_DIFFERENCE_SINCE_THEN = ("first_value", "second_value", "reverses_headline")
"""Those of each difference."""


class ReplayedPack:
    """The study of a pack in a database of its own; its files are those that a study exports."""

    def __init__(self, session: Session, study: Study, rule: Rule | None) -> None:
        self._session = session
        self._study = study
        self.rule = rule
        """The rule of the manifest; ``None`` where it names no rule."""

    def figures(self, run: str) -> dict[str, Any]:
        """Return the figures of a run under every rule."""
        return dict(packs.figures(self._session, self._study, run))

    def report(self, run: str, rule: Rule) -> RunReport:
        """Return a run as `rule` judges it."""
        return reports.report(self._session, self._study, run, rule)

    def exported(self, run: str, member: str, rule: Rule) -> bytes:
        """Return a member of a run."""
        return packs.EXPORTS[member](self._session, self._study, run, rule).data

    def run_json(self, run: str, rule: Rule) -> Any:
        """Return a run's JSON document without its cards and answers."""
        document = json.loads(self.exported(run, proof_files.RUN_JSON, rule))
        return _only(document, COMPARED[proof_files.RUN_JSON])

    def trec_results(self, run: str, rule: Rule) -> Iterator[TrecResult]:
        """Yield a run's results in the form of the TREC files."""
        return exports.trec_results(self._session, self._study, run, rule)

    def with_part(
        self, wing: Any, stated: Mapping[str, object], runs: Sequence[str], before: Any
    ) -> dict[str, Any]:
        """Return a wing's members about `runs`, as made once those stated are put back.

        Raises ``ValueError`` with the member and the place that cannot be put back.
        """
        assert self.rule is not None
        wing.put_back(self._session, self._study, stated, before)
        found = (self._session.get(Run, run) for run in runs)
        shown = [run for run in found if run is not None]
        return dict(wing.documents(self._session, self._study, shown, self.rule, stated))

    def comparison(self, runs: Sequence[str], rule: Rule, stated: object) -> dict[str, Any] | None:
        """Return what follows from the judgments in a comparison that is stated.

        Its settings and names are those stated; ``None`` if such settings cannot be used.
        """
        settings = _settings(stated)
        if settings is None or not isinstance(stated, dict):
            return None
        found = comparisons.report(self._session, self._study, runs, rule, settings=settings)
        document = comparison_json(replace(found, parts=()))
        names = _run_names(stated)
        for run in document["runs"]:
            run["name"] = names.get(run["id"], run["name"])
        had = stated.get("differences")
        if isinstance(had, list) and not any("first_value" in str(one) for one in had):
            for one in document["differences"]:
                for key in OF_DIFFERENCE_SINCE_THEN:
                    del one[key]
        keys = COMPARED["comparison"] - (set(SINCE_THEN) - set(stated))
        return {key: document[key] for key in document if key in keys}


@contextmanager
def replayed(
    manifest: Manifest,
    runs: Sequence[ShownRun],
    sets: Mapping[str, Mapping[int, SetQuestion]],
    said: PackedJudgments,
    settled: Mapping[Thing, str],
) -> Iterator[ReplayedPack]:
    """Yield the pack's study with the judgments `said` and those `settled`.

    Judgments of other raters, or of things that no run shows, are left out.
    """
    # An engine of its own, since services keep what they read of a database under its engine.
    with Session(_empty_databases().execution_options()) as session:
        tables = _Tables(session, manifest)
        tables.ask(sets)
        for shown in runs:
            tables.show(shown)
        tables.judge(said, settled)
        session.flush()
        yield ReplayedPack(session, tables.study, tables.rule(manifest.rule))


@cache
def _empty_databases() -> Engine:
    """Return an engine each of whose connections is an empty database of its own, in memory."""
    kept = create_engine("sqlite://", poolclass=StaticPool)
    Base.metadata.create_all(kept)
    tables: Any = kept.raw_connection().driver_connection

    def copied() -> sqlite3.Connection:
        link = sqlite3.connect(":memory:")
        tables.backup(link)
        return link

    return create_engine("sqlite://", creator=copied, poolclass=NullPool)


class _Tables:
    """The tables as they are filled."""

    def __init__(self, session: Session, manifest: Manifest) -> None:
        self._session = session
        self._stated: Mapping[str, ManifestRun] = {run.run: run for run in manifest.runs}
        self._questions: dict[tuple[str, int], Question] = {}
        self._properties: dict[str, Property] = {}
        self._things: dict[Thing, JudgedThing] = {}
        self._answers: dict[tuple[str, int], Query] = {}
        self.study = Study(
            name=manifest.study,
            cannot_tell=manifest.cannot_tell or "left_out",
            created_at=_SOME_TIME,
        )
        self._put(self.study)
        self._raters = {
            name: Rater(study_id=self.study.id, name=name, created_at=_SOME_TIME)
            for name in dict.fromkeys(manifest.raters)
        }
        self._put(*self._raters.values())

    def rule(self, name: str) -> Rule | None:
        """Return the rule of that name; ``None`` if there is none."""
        rules = [reports.of_rater(rater) for rater in self._raters.values()]
        rules += [Rule(reports.MAJORITY), Rule(reports.ADJUDICATED)]
        return next((rule for rule in rules if rule.name == name), None)

    def ask(self, sets: Mapping[str, Mapping[int, SetQuestion]]) -> None:
        """Put in the question sets, under the ids that they have in the pack."""
        for name, questions in sets.items():
            self._put(QuestionSet(id=int(name), study_id=self.study.id, created_at=_SOME_TIME))
            for position, asked in questions.items():
                self._questions[name, position] = Question(
                    question_set_id=int(name),
                    position=position,
                    text=asked.text,
                    key=asked.text,
                    category=asked.category,
                    context_dependent=asked.context_dependent,
                )
        self._put(*self._questions.values())

    def show(self, run: ShownRun) -> None:
        """Put in a run with the lists that it showed."""
        stated = self._stated[run.run]
        row = Run(
            id=run.run,
            study_id=self.study.id,
            question_set_id=int(run.question_set),
            search_method=run.search_method,
            llm=run.llm,
            session_key="",
            extra={},
            imported_at=_SOME_TIME,
        )
        source = stated.input_files[0]
        row.files = [
            RunFile(
                sha256=source.sha256,
                name=source.name,
                file_format="",
                problems=[],
                imported_at=_SOME_TIME,
            )
        ]
        row.queries = [self._query(run, query) for query in run.queries]
        self._put(row)

    def judge(self, said: PackedJudgments, settled: Mapping[Thing, str]) -> None:
        """Put in the judgments of the raters on what the runs show."""
        for (rater, thing), verdict in said.verdicts.items():
            if rater in self._raters and thing in self._things:
                keys = self._raters[rater].id, self._things[thing].id
                self._session.add(
                    Judgment(
                        rater_id=keys[0],
                        judged_thing_id=keys[1],
                        verdict=verdict,
                        changed_at=_SOME_TIME,
                    )
                )
        for rater, answer in {**said.quality, **said.notes}:
            if rater in self._raters and answer in self._answers:
                self._session.add(
                    QueryRating(
                        rater_id=self._raters[rater].id,
                        query_key=self._answers[answer].id,
                        quality=said.quality.get((rater, answer)),
                        notes=said.notes.get((rater, answer), ""),
                        changed_at=_SOME_TIME,
                    )
                )
        for thing, verdict in settled.items():
            if thing in self._things and self._raters:
                self._session.add(
                    Adjudication(
                        judged_thing_id=self._things[thing].id,
                        verdict=verdict,
                        reason="",
                        rater_id=next(iter(self._raters.values())).id,
                        at=_SOME_TIME,
                    )
                )

    def _query(self, run: ShownRun, shown: ShownQuery) -> Query:
        query = Query(
            question_id=self._questions[run.question_set, shown.position].id,
            query_id=shown.query_id,
            response="",
            state=shown.state.value,
            extra={},
            emptiness=shown.emptiness and self._thing(shown.emptiness),
        )
        query.results = [
            Result(
                rank=rank,  # the one stated may be there twice, which is reported
                judged_thing=self._thing(result.thing),
                card=to_row(Card(title=result.title)),
            )
            for rank, result in enumerate(shown.results, start=1)
        ]
        self._answers[run.run, shown.query_id] = query
        return query

    def _thing(self, thing: Thing) -> JudgedThing:
        if thing not in self._things:
            self._things[thing] = JudgedThing(
                question_id=self._questions[thing.question_set, thing.position].id,
                property=thing.property_id and self._property(thing.property_id),
                content=thing.content,
                run_id=thing.run,
            )
        return self._things[thing]

    def _property(self, identity: str) -> Property:
        return self._properties.setdefault(identity, Property(identity=identity))

    def _put(self, *rows: Base) -> None:
        """Insert rows, which then have their ids."""
        self._session.add_all(rows)
        self._session.flush()


def _only(document: Any, keys: set[str]) -> Any:
    """Return a JSON value without the keys of objects that are not among `keys`."""
    if isinstance(document, dict):
        return {key: _only(value, keys) for key, value in document.items() if key in keys}
    if isinstance(document, list):
        return [_only(value, keys) for value in document]
    return document


def _settings(stated: object) -> Resampling | None:
    """Return the resampling that a comparison states; ``None`` if absent or out of bounds."""
    settings: Any = stated.get("settings") if isinstance(stated, dict) else None
    if not isinstance(settings, dict):
        return None
    resamples, seed = settings.get("resamples"), settings.get("seed")
    confidence = settings.get("confidence")
    if type(resamples) is not int or type(seed) is not int or type(confidence) is not float:
        return None
    if not (0 < resamples <= MOST_RESAMPLES and 0 <= seed < 2**63 and 0 < confidence < 1):
        return None
    return Resampling(resamples, seed, confidence)


def _run_names(stated: object) -> dict[str, str]:
    """Return a comparison's names of its runs, by their ids."""
    runs: Any = stated.get("runs") if isinstance(stated, dict) else None
    found = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    return {
        run["id"]: run["name"]
        for run in found
        if isinstance(run.get("id"), str) and isinstance(run.get("name"), str)
    }
