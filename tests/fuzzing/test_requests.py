"""Requests to every address: right ones with something wrong, and ones made up from the rules.

As a stranger, a rater, a participant and the owner. However wrong a request is, it is answered
in time and without a fault of ours, and what is stored still holds together.
"""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from waitress.adjustments import Adjustments
from werkzeug.datastructures import FileMultiDict, MultiDict
from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder

from tests.fuzzing import mutations, samples
from tests.fuzzing.study import Ground
from tests.fuzzing.texts import BODIES, HEADERS, METHODS, NUMBERS, TYPES

SECONDS = 6.0
"""Of the processor's time; an answer takes a hundredth of it."""
LONGEST_HEAD = Adjustments.max_request_header_size
"""Bytes of a request's first line and headers; what is longer the server itself refuses."""
CHANCES = {"owner": 55, "rater": 18, "participant": 17, "stranger": 10}
FILES = (*samples.RUNS[:4], *(file for kind in samples.FILES.values() for file in kind), b"", b"x")

Request = dict[str, Any]
"""A request: role, method, path, pairs of query, fields, headers and files, cookie, body, type."""


@pytest.fixture(name="ground", scope="module")
def _ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # files of /static stay unread
        ground = Ground(tmp_path_factory.mktemp("web"))
        yield ground
        ground.close()


@given(random=st.randoms(use_true_random=False), count=st.integers(1, 20))
def test_no_request_ends_in_a_fault_or_leaves_one(
    ground: Ground, random: Random, count: int
) -> None:
    ground.begin()
    for _ in range(count):
        request = _request(ground, random)
        note(str(request)[:2_000])
        _send(ground, request)
    ground.check()


def _request(ground: Ground, random: Random) -> Request:
    """Return what a page would ask or what an address takes, then changed a few times."""
    role = random.choices(list(CHANCES), list(CHANCES.values()))[0]
    request = {"role": role, "query": [], "fields": [], "files": [], "headers": []}
    request |= (
        _of_a_page(ground, random, role) if random.random() < 0.65 else _ruled(ground, random)
    )
    for _ in range(random.choice((0, 1, 1, 2, 2, 3, 5))):
        random.choice(_CHANGES)(ground, request, random)
    return request


def _of_a_page(ground: Ground, random: Random, role: str) -> Request:
    """Return what a link or a form on a page would ask, now and then on somebody else's page."""
    whose = role if random.random() < 0.85 else random.choice(list(CHANCES))
    visited = [offer for offer in ground.offers if offer.role == whose]
    posts = [offer for offer in visited if offer.method == "POST"]
    offer = random.choice(posts if posts and random.random() < 0.6 else visited)
    query = parse_qsl(urlsplit(offer.path).query, keep_blank_values=True)
    fields = list(offer.fields)
    request: Request = {"method": offer.method, "path": urlsplit(offer.path).path, "query": query}
    if offer.method == "GET":
        return request | {"query": query + fields}
    if len(fields) > 1 and random.random() < 0.5:  # one button was pressed, one choice made
        fields = list(dict(random.sample(fields, len(fields))).items())
    files = [("file", "berkas.json", random.choice(FILES))] if offer.has_file else []
    return request | {"fields": fields, "files": files}


def _ruled(ground: Ground, random: Random) -> Request:
    """Return a request to one of the addresses, its places filled."""
    rule: Rule = random.choice(ground.rules)
    path = "".join(
        _place(ground, part, random) if is_place else part for is_place, part in rule._trace
    )
    path = path.partition("|")[2] if path.startswith("|") else path
    return {"method": random.choice(sorted(rule.methods or {"GET"})), "path": path}


def _place(ground: Ground, name: str, random: Random) -> str:
    values = sorted(ground.places.get(name, ()))
    if values and random.random() < 0.75:
        return quote(random.choice(values))
    result = random.choice(NUMBERS) if random.random() < 0.5 else mutations.text(random)
    return quote(result.encode("utf-8", "surrogatepass"), safe=random.choice(("", "/")))


def _typed(ground: Ground, random: Random) -> str:
    chance = random.random()
    if chance < 0.3:
        return random.choice(NUMBERS)
    if chance < 0.5:
        return random.choice(ground.values)
    return mutations.text(random)


def _change_field(ground: Ground, request: Request, random: Random) -> None:
    """Write something else into a field, or into one that is not there."""
    fields = request["fields"]
    if fields and random.random() < 0.7:
        place = random.randrange(len(fields))
        fields[place] = (fields[place][0], _typed(ground, random))
    else:
        fields.append((random.choice(ground.names), _typed(ground, random)))
    if request["method"] == "GET" and random.random() < 0.3:
        request["method"] = "POST"


def _repeat_field(ground: Ground, request: Request, random: Random) -> None:
    if request["fields"]:
        name, value = random.choice(request["fields"])
        again = (name, random.choice((value, _typed(ground, random))))
        request["fields"] += [again] * random.choice((1, 1, 1, 2_000))


def _drop_field(_ground: Ground, request: Request, random: Random) -> None:
    if request["fields"]:
        del request["fields"][random.randrange(len(request["fields"]))]


def _change_query(ground: Ground, request: Request, random: Random) -> None:
    names = [*ground.arguments, *(name for name, _ in request["query"])]
    request["query"].append((random.choice(names), _typed(ground, random)))


def _change_header(_ground: Ground, request: Request, random: Random) -> None:
    name, values = random.choice(HEADERS[:3] if random.random() < 0.4 else HEADERS)
    request["headers"].append((name, random.choice(values)))


def _change_file(ground: Ground, request: Request, random: Random) -> None:
    """Send a file: a spoiled one, one with an odd name, or one where a text is wanted."""
    data = random.choice(FILES)
    if random.random() < 0.7:
        data = mutations.spoiled(data, random)[:200_000]
    name = random.choice(("file", "file", "file", *ground.names))
    file_names = ("a.json", "", "../../a", "a\x00b.json", "x" * 3_000, "é.json", "a/b.jsonl")
    request["files"].append((name, random.choice(file_names), data))


def _change_cookie(ground: Ground, request: Request, random: Random) -> None:
    cookie = ground.cookies[random.choice(sorted(ground.cookies))]
    spoiled = mutations.spoiled(cookie.encode(), random)[:1_000].decode("latin-1")
    odd = random.choice((spoiled, "", "x", ".", "..", "eyJhIjoxfQ.a.b", cookie[:-1], cookie[::-1]))
    request["cookie"] = "".join(c for c in odd if c.isprintable() and c not in ';,"\\ ')


def _change_body(_ground: Ground, request: Request, random: Random) -> None:
    body = random.choice(BODIES)
    if random.random() < 0.3:
        body = mutations.spoiled(body or b"x", random)[:200_000]
    request |= {"body": body, "content_type": random.choice(TYPES)}
    if random.random() < 0.8:
        request["method"] = "POST"


def _change_method(_ground: Ground, request: Request, random: Random) -> None:
    request["method"] = random.choice(METHODS)


def _change_path(_ground: Ground, request: Request, random: Random) -> None:
    path, end = request["path"], mutations.text(random).encode("utf-8", "surrogatepass")
    odd = (path + quote(end, safe="/?"), path + "/", "/" + path, path.upper(), path[:-1] or "/")
    request["path"] = random.choice(odd)


_CHANGES: tuple[Callable[[Ground, Request, Random], None], ...] = (
    *(_change_field,) * 5,
    *(_change_query,) * 2,
    *(_change_header,) * 2,
    *(_repeat_field, _drop_field, _change_file, _change_cookie),
    *(_change_body, _change_method, _change_path),
)


def _send(ground: Ground, request: Request) -> None:
    """Ask, and look at the answer."""
    client = ground.clients[request["role"]]
    if "cookie" in request:
        client = ground.browser("stranger")
        client.set_cookie(ground.cookie_name, request["cookie"])
    try:
        builder = _builder(request)
    except (ValueError, TypeError, LookupError):
        return  # no server would get that far either
    began = time.process_time()
    try:
        answer = client.open(builder)
    finally:
        builder.close()
    text = answer.get_data().decode("utf-8", "replace")
    took = time.process_time() - began
    answer.close()
    ground.raise_logged()
    assert answer.status_code < 500, text[:100]
    assert "Traceback (most recent call last)" not in text
    assert took < SECONDS


def _builder(request: Request) -> EnvironBuilder:
    """Return the request as a browser that stops at nothing would send it."""
    query, content_type = _encoded(request["query"]), request.get("content_type")
    if len(request["path"]) + len(query) > LONGEST_HEAD:
        raise ValueError("the server takes no address as long as that")
    data: MultiDict[str, object] | bytes | None = request.get("body")
    if data is None and request["files"]:
        content_type = "multipart/form-data"
        fields = request["fields"]
        data = MultiDict(
            [(name, value.encode("utf-8", "replace").decode()) for name, value in fields]
        )
        files = FileMultiDict()
        for name, file_name, content in request["files"]:
            files.add_file(name, io.BytesIO(content), file_name or None)
        for name, file in files.items(multi=True):
            data.add(name, file)
    elif data is None and request["fields"]:
        content_type = "application/x-www-form-urlencoded"
        data = _encoded(request["fields"]).encode()
    return EnvironBuilder(
        path=request["path"],
        method=request["method"],
        query_string=query,
        headers=[(name, value) for name, value in request["headers"] if value.isprintable()],
        data=data,
        content_type=content_type or None,
    )


def _encoded(pairs: list[tuple[str, str]]) -> str:
    """Return pairs as they stand in an address, with bytes that are not UTF-8 among them."""
    quoted = ([quote(text.encode("utf-8", "surrogatepass"), safe="") for text in p] for p in pairs)
    return "&".join("=".join(pair) for pair in quoted)
