"""A proof pack recomputed from what lies in it: equal, or which files and figures differ.

The chain goes from the events to the current verdicts, from those to the figures under every
rule, and from both to every other file. Every difference is reported with the figures that it
would change. The pack is put back into an empty database in memory, and compared with what a
study exports from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.i18n import SOURCE_LANGUAGE, speaking
from webapp.importers.proof_packs import files as members
from webapp.importers.proof_packs.files import MemberFault, ReadMember
from webapp.importers.proof_packs.pack import ManifestRun, ProofPack, UnreadableMember
from webapp.metrics.judging.figures import RunReport
from webapp.metrics.proof_packs import proof_files
from webapp.metrics.proof_packs.evidence import SetQuestion, ShownRun, Thing
from webapp.services.proof_packs import added, packed_judgments, rereading
from webapp.services.proof_packs import differences as pack_differences
from webapp.services.proof_packs.differences import (
    DifferenceKind,
    Differences,
    Found,
    PackDifference,
    Place,
    Value,
)
from webapp.services.proof_packs.packed_judgments import PackedJudgments
from webapp.services.proof_packs.replay import ReplayedPack, replayed
from webapp.services.proof_packs.rereading import Otherwise
from webapp.services.runs.reports import Rule
from webapp.steps import Tell, nobody

ResultT = TypeVar("ResultT")

_DIFFERING: Mapping[str, Callable[[bytes, bytes], Iterator[Found]]] = {
    proof_files.RATED: partial(pack_differences.tables, keys=slice(1)),
    proof_files.RATED_BY_EACH: partial(pack_differences.tables, keys=slice(1)),
    proof_files.JUDGMENTS: partial(pack_differences.tables, keys=slice(2, 4)),
    proof_files.QRELS: partial(pack_differences.trec_files, values=slice(3, 4)),
    proof_files.RUN_FILE: partial(pack_differences.trec_files, values=slice(3, 6)),
}
"""How each member of a run is explained where its bytes differ."""


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
    """Return where the members of `pack` differ from its verdicts; `tell` is called per run."""
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
        runs=tuple(run.run for run in manifest.runs),
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
        self._stated: dict[str, Any] = {}
        self._known: set[Found] = set()
        self._runs = {run.run: run for run in self.manifest.runs}
        self._raters = list(dict.fromkeys(self.manifest.raters))

    def do(self, tell: Tell) -> None:
        """Compare everything, the hashes first."""
        of = len(self._runs) + 2
        tell(0, of)
        self._hashes()
        self._names()
        sets = self._sets()
        lists = list(self._lists(sets))
        said = self._said()
        if said is None:
            return
        settled = self._settled()
        self._beyond(lists, said)
        others = self._replayed(lists, said)
        with ExitStack() as stack:
            put_back = partial(replayed, self.manifest, lists, sets)
            judged = stack.enter_context(put_back(said, settled))
            by_events = stack.enter_context(put_back(others, settled)) if others else None
            self.figures += added.compare(self.pack, judged, self.differences)
            for done, run in enumerate(lists, start=1):
                tell(done, of)
                self._run(self._runs[run.run], judged, by_events)
            tell(of - 1, of)
            self._comparisons(lists, judged)

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

    def _names(self) -> None:
        """Report names that the manifest has twice, and a rule without its rater."""
        named = [("raters", self.manifest.raters), ("runs", [r.run for r in self.manifest.runs])]
        for what, names in named:
            for name, times in Counter(names).items():
                if times > 1:
                    self._add(DifferenceKind.CELL, proof_files.MANIFEST, (what, name), times, 1)
        rules = {f"rater {name}" for name in self._raters} | {"majority", "adjudicated"}
        if self.manifest.rule not in rules:
            self._add(
                DifferenceKind.CELL,
                proof_files.MANIFEST,
                ("rule",),
                self.manifest.rule,
                None,
                "raters",
            )

    def _sets(self) -> dict[str, Mapping[int, SetQuestion]]:
        """Return the questions of each set that can be read, by position."""
        found: dict[str, Mapping[int, SetQuestion]] = {}
        for name in dict.fromkeys(run.question_set for run in self._runs.values()):
            read = self._tried(partial(members.questions, self.pack, name))
            if read is not None:
                found[name] = {question.position: question for question in self._values(read)}
        return found

    def _lists(self, sets: Mapping[str, Mapping[int, SetQuestion]]) -> Iterator[ShownRun]:
        """Yield the lists of each run whose lists and questions can be read."""
        for run in self._runs.values():
            if run.question_set not in sets:
                continue
            read = partial(members.lists, self.pack, run, sets[run.question_set])
            found = self._tried(read)
            if found is not None:
                shown, faults = found
                self._faults(faults)
                yield shown

    def _said(self) -> PackedJudgments | None:
        given = self._tried(partial(members.verdicts, self.pack))
        rated = self._tried(partial(members.ratings, self.pack))
        if given is None or rated is None:
            return None
        verdicts, ratings = self._values(given), self._values(rated)
        self._twice(proof_files.VERDICTS, ((v.rater, *_told(v.thing)) for v in verdicts))
        self._twice(proof_files.RATINGS, ((r.rater, r.run, str(r.query_id)) for r in ratings))
        return packed_judgments.stated(verdicts, ratings)

    def _settled(self) -> Mapping[Thing, str]:
        found = self._tried(partial(members.settled, self.pack))
        settled = () if found is None else self._values(found)
        self._twice(proof_files.ADJUDICATIONS, (_told(one.thing) for one in settled))
        return {one.thing: one.verdict for one in settled}

    def _twice(self, file: str, places: Iterable[Place]) -> None:
        for place, times in Counter(places).items():
            if times > 1:
                self._verdict(file, place, times, 1)

    def _beyond(self, lists: Sequence[ShownRun], said: PackedJudgments) -> None:
        """Report judgments by a rater, or on a thing, that the pack does not have."""
        things, answers = packed_judgments.shown(lists)
        for (rater, thing), verdict in said.verdicts.items():
            if rater not in self._raters or thing not in things:
                place = (rater, *_told(thing))
                self._verdict(proof_files.VERDICTS, place, verdict, None, "lists.csv")
        for rater, answer in {**said.quality, **said.notes}:
            if rater not in self._raters or answer not in answers:
                place = (rater, answer[0], f"query_id {answer[1]}")
                self._verdict(proof_files.RATINGS, place, "-", None, "lists.csv")

    def _replayed(self, lists: Sequence[ShownRun], said: PackedJudgments) -> PackedJudgments | None:
        """Return the verdicts that the events make, ``None`` if they equal the stated ones."""
        events = self._tried(partial(members.events, self.pack))
        if events is None:
            return None
        found = packed_judgments.replayed(self._values(events))
        before = self.differences.count
        things, answers = packed_judgments.shown(lists)
        for key in dict.fromkeys((*said.verdicts, *found.verdicts)):
            if key[1] in things:
                place = (key[0], *_told(key[1]))
                values = said.verdicts.get(key), found.verdicts.get(key)
                self._if_differs(proof_files.VERDICTS, place, *values)
        for name in ("quality", "notes"):
            stated, made = getattr(said, name), getattr(found, name)
            for key in dict.fromkeys((*stated, *made)):
                if key[1] in answers:
                    place = (key[0], key[1][0], f"query_id {key[1][1]}", name)
                    self._if_differs(proof_files.RATINGS, place, stated.get(key), made.get(key))
        return found if self.differences.count > before else None

    def _if_differs(self, file: str, place: Place, stated: Value, made: Value) -> None:
        if stated != made:
            values = pack_differences.scalar(stated), pack_differences.scalar(made)
            self._verdict(file, place, *values, proof_files.EVENTS)

    def _run(self, run: ManifestRun, judged: ReplayedPack, others: ReplayedPack | None) -> None:
        """Compare the members of one run with those made from the verdicts."""
        name = _name(run, proof_files.FIGURES)
        stated = self._tried(partial(self.pack.json, name))
        computed = judged.figures(run.run)
        self.figures += pack_differences.numbers(computed)
        if isinstance(stated, dict):
            stated = {rule: self._with_setting(one) for rule, one in stated.items()}
        found = [] if stated is None else list(pack_differences.documents(stated, computed))
        self.differences.add_all(DifferenceKind.FIGURE, name, proof_files.VERDICTS, iter(found))
        self._stated = stated if isinstance(stated, dict) else computed
        self._known = set(found)
        if others is not None:
            self._changed(run, self._stated, others.figures(run.run), proof_files.EVENTS)
        if judged.rule is not None:
            for member, differing in _DIFFERING.items():
                self._member(run, member, differing, judged, judged.rule)
            self._run_json(run, judged, judged.rule)

    def _member(
        self,
        run: ManifestRun,
        member: str,
        differing: Callable[[bytes, bytes], Iterator[Found]],
        judged: ReplayedPack,
        rule: Rule,
    ) -> None:
        """Compare a member byte for byte; if it differs, report where, and what that changes."""
        name = _name(run, member)
        computed = judged.exported(run.run, member, rule)
        stated = self._tried(partial(self.pack.read, name))
        if stated is None or stated == computed:
            return
        try:
            found = list(differing(stated, computed)) or [((), "other bytes", "")]
        except ValueError as broken:
            self._add(DifferenceKind.UNREADABLE, name, (), pack_differences.scalar(str(broken)))
            return
        self.differences.add_all(DifferenceKind.CELL, name, proof_files.VERDICTS, iter(found))
        self.differences.texts[name] = pack_differences.text_lines(
            stated, computed, name, proof_files.VERDICTS
        )
        report = judged.report(run.run, rule)
        if member == proof_files.JUDGMENTS:
            self._effect(run, member, report, rereading.of_judgments(stated, report))
        elif member == proof_files.QRELS:
            results = judged.trec_results(run.run, rule)
            self._effect(run, member, report, rereading.of_qrels(stated, results, report))

    def _run_json(self, run: ManifestRun, judged: ReplayedPack, rule: Rule) -> None:
        name = _name(run, proof_files.RUN_JSON)
        stated = self._tried(partial(self.pack.json, name))
        if stated is None:
            return
        computed = judged.run_json(run.run, rule)
        compared = pack_differences.only(self._with_setting(stated), computed)
        before = self.differences.count
        found = pack_differences.documents(compared, computed)
        self.differences.add_all(DifferenceKind.CELL, name, proof_files.VERDICTS, found)
        if self.differences.count > before:
            report = judged.report(run.run, rule)
            otherwise = rereading.of_run_json(stated, report)
            self._effect(run, proof_files.RUN_JSON, report, otherwise)

    def _effect(
        self, run: ManifestRun, member: str, report: RunReport, otherwise: Otherwise
    ) -> None:
        """Report the figures that the judgments of one member would change."""
        if otherwise:
            made = {report.rule: metrics_json(rereading.judged_otherwise(report, otherwise))}
            stated = {report.rule: self._stated.get(report.rule)}
            self._changed(run, stated, made, _name(run, member))

    def _changed(self, run: ManifestRun, stated: object, made: object, source: str) -> None:
        """Report the figures that `source` changes, unless the verdicts change them likewise."""
        found = pack_differences.documents(stated, made)
        new = (one for one in found if one not in self._known)
        name = _name(run, proof_files.FIGURES)
        self.differences.add_all(DifferenceKind.FIGURE, name, source, new)

    def _with_setting(self, document: object) -> object:
        """Return a document of the pack; the first packs do not say what "cannot tell" is."""
        if self.manifest.cannot_tell is None and isinstance(document, dict):
            return {"cannot_tell": "left_out", **document}
        return document

    def _comparisons(self, lists: Sequence[ShownRun], judged: ReplayedPack) -> None:
        if self.manifest.scope != "study" or judged.rule is None:
            return
        sets: dict[str, list[str]] = {}
        for run in lists:
            sets.setdefault(run.question_set, []).append(run.run)
        for question_set, runs in sets.items():
            if len(runs) > 1:
                self._comparison(question_set, runs, judged, judged.rule)

    def _comparison(
        self, question_set: str, runs: list[str], judged: ReplayedPack, rule: Rule
    ) -> None:
        name = proof_files.of_comparison(question_set)
        stated = self._tried(partial(self.pack.json, name))
        if stated is None:
            return
        computed = judged.comparison(runs, rule, stated)
        if computed is None:
            self._add(DifferenceKind.UNREADABLE, name, ("settings",))
            return
        self.figures += pack_differences.numbers(computed)
        compared = pack_differences.only(self._with_setting(stated), computed)
        found = pack_differences.documents(compared, computed)
        self.differences.add_all(DifferenceKind.FIGURE, name, proof_files.VERDICTS, found)

    def _verdict(
        self, file: str, place: Place, stated: Value, computed: Value, source: str = ""
    ) -> None:
        self._add(DifferenceKind.VERDICT, file, place, stated, computed, source)

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

    def _values(self, read: ReadMember[ResultT]) -> tuple[ResultT, ...]:
        self._faults(read.faults)
        return read.values

    def _faults(self, faults: Iterable[MemberFault]) -> None:
        for fault in faults:
            self._add(DifferenceKind.UNREADABLE, fault.file, (fault.place,))

    def _tried(self, read: Callable[[], ResultT]) -> ResultT | None:
        """Return the result of `read`; ``None``, and a difference, if a member is unreadable."""
        try:
            return read()
        except UnreadableMember as wrong:
            known = any(one.file == wrong.name for one in self.differences.found)
            if wrong.name in self.pack.names or not known:
                self._add(DifferenceKind.UNREADABLE, wrong.name, (), wrong.why)
            return None


def _name(run: ManifestRun, member: str) -> str:
    return proof_files.of_run(run.run, member)


def _told(thing: Thing) -> Place:
    what = f"{thing.property_id}/{thing.content}" if thing.property_id else "empty list"
    question = f"question {thing.question_set}/{thing.position}"
    return (question, what) if thing.run is None else (question, what, f"run {thing.run}")
