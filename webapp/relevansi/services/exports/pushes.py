"""Judgments of a run pushed to the tool that its results came from: Phoenix, OpenSearch.

What is pushed twice changes nothing. Phoenix keeps one annotation of a name for each document of a
span, which the next one replaces. OpenSearch makes a new list of every import, so a list is named
with a digest of its ratings, and imported only where none of that name is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, json
from msgspec.structs import replace

from relevansi.chatbot import client
from relevansi.chatbot.answers import detail
from relevansi.chatbot.failures import CallFailed
from relevansi.failures import Refused
from relevansi.i18n import mark

if TYPE_CHECKING:
    import httpx

FORMS = {"phoenix": "phoenix", "opensearch": "srw"}
"""The tools, and the export that each takes."""
PATHS = {
    "phoenix": "/v1/document_annotations",
    "opensearch": "/_plugins/_search_relevance/judgments",
}
AT_ONCE = 200
"""Annotations in one request."""


class NothingJudged(Refused):
    message = mark("This run has no judgment to push")
    remedy = mark("Judge its results first, or push by another rule.")


class TokenRefused(Refused):
    """The server takes nothing with this token, or without one; its answer is the argument."""

    message = mark("The server refused the token (%(name)s)")
    remedy = mark("Set RELEVANSI_PUSH_TOKEN to one that may write there.")


class Refusal(Struct, frozen=True):
    """Judgments that the server did not take: why, its status (0 without one), their names."""

    status: int
    detail: str
    items: tuple[str, ...]


class Pushed(Struct, frozen=True):
    """The outcome of a push: ``n_accepted`` judgments, and those that the server refused.

    ``name`` is that of the list in OpenSearch; it ``was_there`` if an earlier try made it.
    """

    address: str
    n_accepted: int
    refused: tuple[Refusal, ...] = ()
    name: str = ""
    was_there: bool = False


def push(export: bytes, to: str, endpoint: str, *, token: str = "") -> Pushed:
    """Send an export in the tool's form of ``FORMS`` to the server at `endpoint`.

    Raises ``NothingJudged``, ``UnusableAddress``, ``SecretInAddress``, ``TokenRefused``, and a
    ``CallFailed`` where nothing was taken and no try got an answer.
    """
    address = client.full_address(endpoint, PATHS[to])
    body = json.decode(export, type=dict[str, Any])
    if to == "phoenix":
        n, pushed = len(body["data"]), _push_annotations(body["data"], address, token)
    else:
        n = sum(len(query["ratings"]) for query in body["judgmentRatings"])
        pushed = _push_list(body, address, token)
    n_refused = sum(len(refusal.items) for refusal in pushed.refused)
    return replace(pushed, address=client.public_address(address), n_accepted=n - n_refused)


def _push_annotations(annotations: Sequence[Mapping[str, Any]], address: str, token: str) -> Pushed:
    if not annotations:
        raise NothingJudged
    refused: list[Refusal] = []
    for start in range(0, len(annotations), AT_ONCE):
        try:
            refused += _post(annotations[start : start + AT_ONCE], address, token)
        except CallFailed as failed:
            if not start:
                raise
            refused.append(Refusal(0, str(failed), tuple(map(_name, annotations[start:]))))
            break
    return Pushed(address, 0, tuple(refused))


def _name(annotation: Mapping[str, Any]) -> str:
    return f"{annotation['span_id']}:{annotation['document_position']}"


def _post(batch: Sequence[Mapping[str, Any]], address: str, token: str) -> list[Refusal]:
    """Send annotations, and return which of them Phoenix refuses: for one it refuses all."""
    # Asynchronously Phoenix would accept annotations and drop some later.
    how: Any = {"params": {"sync": "true"}, "json": {"data": batch}}
    answer = client.request("POST", address, token=token, **how)
    refusal = _refusal(answer, map(_name, batch))
    if refusal is None:
        return []
    if len(batch) == 1 or not any(annotation["span_id"] in answer.text for annotation in batch):
        return [refusal]
    # Phoenix refuses a batch for one unknown span: halves of it find the annotations at fault.
    middle = len(batch) // 2
    halves = batch[:middle], batch[middle:]
    return [refusal for half in halves for refusal in _post(half, address, token)]


def _push_list(body: Mapping[str, Any], address: str, token: str) -> Pushed:
    """Import a list of judgments into OpenSearch, unless it is there."""
    ratings = body["judgmentRatings"]
    if not ratings:
        raise NothingJudged
    digest = hashlib.sha256(json.encode(ratings, order="sorted")).hexdigest()[:16]
    name = f"{body['name']} {digest}"
    ask = partial(client.request, token=token, patience=replace(client.PATIENT, tries=1))
    for attempt in client.retries(client.PATIENT):
        with attempt:  # where an answer was lost, the list may be stored all the same
            if _is_there(name, address, ask):
                return Pushed(address, 0, name=name, was_there=True)
            answer = ask("PUT", address, json={**body, "name": name})
    names = (
        f"{query['query']}: {rated['docId']}" for query in ratings for rated in query["ratings"]
    )
    refusal = _refusal(answer, names)
    return Pushed(address, 0, (refusal,) if refusal else (), name)


def _is_there(name: str, address: str, ask: Callable[..., httpx.Response]) -> bool:
    """Whether OpenSearch has a list of that name."""
    search = {"query": {"match_phrase": {"name": name}}, "_source": ["name"]}
    answer = ask("POST", f"{address}/_search", json=search)
    if answer.status_code in {400, 404, 405}:  # before OpenSearch 3.5 there was no search
        answer = ask("GET", address)
    # Without any list it answers 404; other failures are those of the import, too.
    return _refusal(answer, ()) is None and name.rpartition(" ")[2] in answer.text


def _refusal(answer: httpx.Response, items: Iterable[str]) -> Refusal | None:
    """Return why the server refused `items`, ``None`` where it did not; raises ``TokenRefused``."""
    if answer.is_success:
        return None
    reason = detail(answer.content)
    if answer.status_code in {401, 403}:
        raise TokenRefused(f"{answer.status_code}: {reason}")
    return Refusal(answer.status_code, reason, tuple(items))
