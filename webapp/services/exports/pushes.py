"""Judgments of a run pushed to the tool that its results came from: Phoenix, OpenSearch.

What is pushed twice changes nothing. Phoenix keeps one annotation of a name for each document of a
span, which the next one replaces. OpenSearch makes a new list of every import: the name of ours
ends in a digest of its ratings, and is looked for before each try.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, Struct, field, json
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.chatbot import client
from webapp.chatbot.answers import detail
from webapp.chatbot.client import Patience
from webapp.chatbot.failures import CallFailed
from webapp.db.tables.study import Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.services.exports import exports
from webapp.services.runs.reports import Rule

if TYPE_CHECKING:
    import httpx

FORMS = {"phoenix": "phoenix", "opensearch": "srw"}
"""The tools, and the export that has what each takes."""
AT_ONCE = 200
"""Annotations in one request."""
ANNOTATIONS = "/v1/document_annotations"
JUDGMENTS = "/_plugins/_search_relevance/judgments"
Body = Mapping[str, Any]


class NothingJudged(Refused):
    message = mark("Run %(name)s has no judgment to push")
    remedy = mark("Judge its results first, or push by another rule.")


class TokenRefused(Refused):
    """The server takes nothing with this token, or without one; its answer is the argument."""

    message = mark("The server refused the token (%(name)s)")
    remedy = mark("Set RELEVANSI_PUSH_TOKEN to one that may write there.")


class Refusal(Struct, frozen=True):
    """Judgments that the server did not take: its status, its words, and their names."""

    status: int
    detail: str
    items: tuple[str, ...]


class Pushed(Struct, frozen=True):
    """What became of the judgments of a run; ``name`` is that of the list in OpenSearch.

    ``n_known`` of the accepted ones were there already, where the server tells.
    """

    to: str
    address: str
    run: str
    rule: str
    n_accepted: int
    refused: tuple[Refusal, ...] = ()
    n_known: int = 0
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n_refused(self) -> int:
        return sum(len(one.items) for one in self.refused)


class Prepared(Struct, frozen=True):
    """The body to push, made before anything is sent, and what is said of it."""

    to: str
    run: str
    rule: str
    body: Body
    notes: Sequence[str]


def prepare(session: Session, study: Study, run_id: str, rule: Rule, to: str) -> Prepared:
    """Return what is to be pushed of a run.

    Raises what ``exports.for_tool`` does for its format, and ``NothingJudged``.
    """
    file = exports.export(session, study, run_id, rule, FORMS[to])
    body = json.decode(file.data, type=dict[str, Any])
    if not (body.get("data") or body.get("judgmentRatings")):
        raise NothingJudged(run_id)
    return Prepared(to, run_id, rule.name, body, file.notes)


def push(
    ready: Prepared, endpoint: str, *, token: str = "", patience: Patience = client.PATIENT
) -> Pushed:
    """Send it to the server at `endpoint`, and return what was taken and what refused.

    Raises ``UnusableAddress``, ``SecretInAddress``, ``TokenRefused``, and a ``CallFailed`` where
    no try got an answer.
    """
    path = ANNOTATIONS if ready.to == "phoenix" else JUDGMENTS
    address = client.full_address(endpoint, path)
    done = Pushed(
        to=ready.to,
        address=client.public_address(address),
        run=ready.run,
        rule=ready.rule,
        n_accepted=0,
        notes=tuple(ready.notes),
    )
    if ready.to == "opensearch":
        return _listed(done, ready.body, address, token, patience)
    annotations: list[Body] = ready.body["data"]
    refused: list[Refusal] = []
    for start in range(0, len(annotations), AT_ONCE):
        try:
            batch = annotations[start : start + AT_ONCE]
            refused += _annotated(batch, address, token, patience)
        except CallFailed as failed:
            if not start:
                raise
            refused.append(Refusal(0, str(failed), tuple(map(_name, annotations[start:]))))
            break
    done = replace(done, refused=tuple(refused))
    return replace(done, n_accepted=len(annotations) - done.n_refused)


def _name(annotation: Body) -> str:
    return f"{annotation['span_id']}:{annotation['document_position']}"


def _annotated(
    batch: Sequence[Body], address: str, token: str, patience: Patience
) -> list[Refusal]:
    """Send annotations, and return which of them Phoenix refuses: for one it refuses all."""
    answer = client.request(
        "POST",
        address,
        token=token,
        patience=patience,
        params={"sync": "true"},  # otherwise it accepts what it drops later
        json={"data": batch},
    )
    refusal = _refusal(answer, map(_name, batch))
    if refusal is None:
        return []
    if len(batch) == 1 or not any(one["span_id"] in answer.text for one in batch):
        return [refusal]
    middle = len(batch) // 2
    halves = batch[:middle], batch[middle:]
    return [one for half in halves for one in _annotated(half, address, token, patience)]


def _listed(done: Pushed, body: Body, address: str, token: str, patience: Patience) -> Pushed:
    """Import a list of judgments into OpenSearch, unless it is there."""
    ratings = body["judgmentRatings"]
    digest = hashlib.sha256(json.encode(ratings, order="sorted")).hexdigest()[:12]
    name = f"{body['name']} {done.run} {digest}"
    items = [f"{one['query']}: {rated['docId']}" for one in ratings for rated in one["ratings"]]
    once = replace(patience, tries=1)
    for attempt in client.retries(patience):
        with attempt:  # an answer that was lost may be of a list that was stored
            if _is_there(name, address, token, once):
                return replace(done, n_accepted=len(items), n_known=len(items), name=name)
            given = {**body, "name": name}
            answer = client.request("PUT", address, token=token, patience=once, json=given)
    refusal = _refusal(answer, items)
    if refusal is not None:
        return replace(done, refused=(refusal,), name=name)
    return replace(done, n_accepted=len(items), name=name)


class _Source(Struct):
    name: str = ""
    status: str = ""


class _Hit(Struct):
    source: _Source = field(name="_source")


class _Hits(Struct):
    hits: tuple[_Hit, ...]


class _Found(Struct):
    hits: _Hits


def _is_there(name: str, address: str, token: str, patience: Patience) -> bool:
    """Whether OpenSearch has a list of that name, whose import did not fail."""
    known: Body = {"token": token, "patience": patience}
    wanted = {"query": {"match_phrase": {"name": name}}, "size": 100, "_source": ["name", "status"]}
    answer = client.request("POST", f"{address}/_search", json=wanted, **known)
    if answer.status_code in {400, 404, 405}:  # before OpenSearch 3.5 there was no search
        answer = client.request("GET", address, **known)
    if _refusal(answer, ()) is not None:
        return False  # there is no list at all, or the import will say what is wrong
    try:
        hits = json.decode(answer.content, type=_Found).hits.hits
    except DecodeError:
        return False
    return any(one.source.name == name and one.source.status != "ERROR" for one in hits)


def _refusal(answer: httpx.Response, items: Iterable[str]) -> Refusal | None:
    if answer.is_success:
        return None
    said = detail(answer.content)
    if answer.status_code in {401, 403}:
        raise TokenRefused(f"{answer.status_code}: {said}")
    return Refusal(answer.status_code, said, tuple(items))
