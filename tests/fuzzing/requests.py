"""Requests to every address: right ones with something wrong, and ones made up from the rules.

As a stranger, a rater, a participant and the owner. However wrong a request is, it is answered
in time and without a fault of ours, and what is stored still holds together.
"""

from __future__ import annotations

import io
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from waitress.adjustments import Adjustments
from werkzeug.datastructures import FileMultiDict, MultiDict
from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder, TestResponse

from tests.fuzzing import mutations, samples
from tests.fuzzing.kinds import Kind, Wrong
from tests.fuzzing.request_parts import BODIES, HEADERS, METHODS, NUMBERS, TYPES
from tests.fuzzing.study import Ground, Seen, query_of

SECONDS = 6.0
"""Of the processor's time; an answer takes a hundredth of it."""
LONGEST_HEAD = Adjustments.max_request_header_size
"""Bytes of a request's first line and headers; what is longer the server itself refuses."""
CHANCES = {"owner": 55, "rater": 18, "participant": 17, "stranger": 10}

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: who asks, for what, and what is sent along."""

    role: str
    method: str
    path: str
    query: Pairs = ()
    fields: Pairs = ()
    files: tuple[tuple[str, str, str], ...] = ()
    """Field, name of the file, and what it holds, a character for each byte."""
    headers: Pairs = ()
    cookie: str | None = None
    body: str | None = None
    """Sent in place of fields and files, a character for each byte, as of `content_type`."""
    content_type: str = ""


class Requests(Kind[Asked]):
    """Requests to every address."""

    name = "requests"
    batch = 40

    def __init__(self, seed: int, *, most_pages: int = 90) -> None:
        super().__init__(seed)
        self.most_pages = most_pages

    def open(self, folder: Path) -> None:
        """Make the application and gather what can be asked of it."""
        warnings.simplefilter("ignore", ResourceWarning)  # files of /static stay unread
        self.ground = Ground(folder, self.seed, most_pages=self.most_pages)
        app = self.ground.app
        self.rules = sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))
        self.files = (*samples.runs()[:4], *_other_files())

    def begin(self) -> None:
        """Put the study back as it was at first."""
        self.ground.begin()

    def end(self) -> None:
        """Look at what is stored."""
        self.ground.check()

    def make(self, random: Random) -> Asked:
        """Return a request that is wrong somewhere."""
        role = random.choices(list(CHANCES), list(CHANCES.values()))[0]
        asked = self._known(random, role) if random.random() < 0.65 else self._ruled(random, role)
        for change in random.choices(_CHANGES, k=random.choice((0, 1, 1, 2, 2, 3, 5))):
            asked = change(self, asked, random)
        return asked

    def put(self, given: Asked) -> None:
        """Ask, and look at the answer."""
        client = self.ground.clients[given.role]
        if given.cookie is not None:
            client = self.ground.browser("stranger")
            client.set_cookie(self.ground.app.config["SESSION_COOKIE_NAME"], given.cookie)
        try:
            builder = _builder(given)
        except (ValueError, TypeError, LookupError):
            return  # no server would get that far either
        began = time.process_time()
        try:
            answer = client.open(builder)
        finally:
            builder.close()
        text = answer.get_data().decode("utf-8", "replace")
        took = time.process_time() - began
        self.ground.raise_logged()
        _check(answer, text, took)
        answer.close()

    def smaller(self, given: Asked) -> Iterator[Asked]:
        """Yield the request with less of it."""
        wholes: tuple[dict[str, Any], ...] = (
            {"headers": ()},
            {"query": ()},
            {"fields": ()},
            {"files": ()},
            {"cookie": None},
            {"body": None},
        )
        for less in wholes:
            if replace(given, **less) != given:
                yield replace(given, **less)
        for name in ("headers", "query", "fields", "files"):
            pairs = getattr(given, name)
            for place in range(len(pairs)):
                yield replace(given, **{name: pairs[:place] + pairs[place + 1 :]})
        for name in ("query", "fields"):
            pairs = getattr(given, name)
            for place, (key, value) in enumerate(pairs):
                for shorter in (value[: len(value) // 2], value[len(value) // 2 :], value[1:]):
                    if shorter != value:
                        said = (*pairs[:place], (key, shorter), *pairs[place + 1 :])
                        yield (
                            replace(given, query=said)
                            if name == "query"
                            else replace(given, fields=said)
                        )

    def shown(self, given: Asked) -> bytes:
        """Return the request as JSON."""
        return json.dumps({name: said for name, said in asdict(given).items() if said}).encode()

    def _known(self, random: Random, role: str) -> Asked:
        """Return what a link or a form on a page would ask."""
        whose = role if random.random() < 0.85 else random.choice(list(CHANCES))
        seen = [one for one in self.ground.gathered.seen if one.role == whose]
        posts = [one for one in seen if one.method == "POST"]
        one: Seen = random.choice(posts if posts and random.random() < 0.6 else seen)
        path, query = query_of(one.path)
        fields = one.fields
        files: tuple[tuple[str, str, str], ...] = ()
        if one.has_file:
            files = (("file", "berkas.json", random.choice(self.files).decode("latin-1")),)
        if one.method == "GET":
            return Asked(role, "GET", path, (*query, *fields))
        if len(fields) > 1 and random.random() < 0.5:  # one button was pressed, one choice made
            fields = tuple(dict(random.sample(fields, len(fields))).items())
        return Asked(role, one.method, path, tuple(query), fields, files)

    def _ruled(self, random: Random, role: str) -> Asked:
        """Return a request to one of the addresses, its places filled."""
        rule = random.choice(self.rules)
        method = random.choice(sorted(rule.methods or {"GET"}))
        return Asked(role, method, self._filled(rule, random))

    def _filled(self, rule: Rule, random: Random) -> str:
        path = ""
        for is_place, part in rule._trace:
            path += self._place(part, random) if is_place else part
        return path.partition("|")[2] if path.startswith("|") else path

    def _place(self, name: str, random: Random) -> str:
        known = sorted(self.ground.gathered.places.get(name, ()))
        if known and random.random() < 0.75:
            return quote(random.choice(known))
        found = random.choice(NUMBERS) if random.random() < 0.5 else mutations.text(random)
        return quote(found.encode("utf-8", "surrogatepass"), safe=random.choice(("", "/")))

    def _change_field(self, asked: Asked, random: Random) -> Asked:
        """Write something else into a field, or into one that is not there."""
        fields = list(asked.fields)
        if fields and random.random() < 0.7:
            place = random.randrange(len(fields))
            fields[place] = (fields[place][0], self._typed(random))
        else:
            fields.append((random.choice(self.ground.gathered.names), self._typed(random)))
        method = "POST" if asked.method == "GET" and random.random() < 0.3 else asked.method
        return replace(asked, fields=tuple(fields), method=method)

    def _repeat_field(self, asked: Asked, random: Random) -> Asked:
        if not asked.fields:
            return asked
        name, value = random.choice(asked.fields)
        again = random.choice((value, self._typed(random)))
        return replace(
            asked, fields=(*asked.fields, *[(name, again)] * random.choice((1, 1, 1, 2_000)))
        )

    def _drop_field(self, asked: Asked, random: Random) -> Asked:
        if not asked.fields:
            return asked
        place = random.randrange(len(asked.fields))
        return replace(asked, fields=asked.fields[:place] + asked.fields[place + 1 :])

    def _change_query(self, asked: Asked, random: Random) -> Asked:
        names = [*self.ground.gathered.arguments, *(name for name, _ in asked.query)] or ["x"]
        return replace(asked, query=(*asked.query, (random.choice(names), self._typed(random))))

    def _change_header(self, asked: Asked, random: Random) -> Asked:
        name, values = random.choice(HEADERS[:3] if random.random() < 0.4 else HEADERS)
        return replace(asked, headers=(*asked.headers, (name, random.choice(values))))

    def _change_file(self, asked: Asked, random: Random) -> Asked:
        """Send a file: a spoiled one, one with an odd name, or one where a text is wanted."""
        data = random.choice(self.files)
        if random.random() < 0.7:
            data = mutations.spoiled(data, random)[:200_000]
        name = random.choice(("file", "file", "file", *self.ground.gathered.names))
        called = random.choice(
            ("a.json", "", "../../a", "a\x00b.json", "x" * 3_000, "é.json", "a/b.jsonl")
        )
        return replace(asked, files=(*asked.files, (name, called, data.decode("latin-1"))))

    def _change_cookie(self, asked: Asked, random: Random) -> Asked:
        known = self.ground.cookies[random.choice(sorted(self.ground.cookies))]
        spoiled = mutations.spoiled(known.encode(), random)[:1_000].decode("latin-1")
        odd = random.choice(
            (spoiled, "", "x", ".", "..", "eyJhIjoxfQ.a.b", known[:-1], known[::-1])
        )
        return replace(
            asked, cookie="".join(c for c in odd if c.isprintable() and c not in ';,"\\ ')
        )

    def _change_body(self, asked: Asked, random: Random) -> Asked:
        said = random.choice(BODIES)
        if random.random() < 0.3:
            said = mutations.spoiled(said or b"x", random)[:200_000]
        method = "POST" if random.random() < 0.8 else asked.method
        return replace(
            asked, method=method, body=said.decode("latin-1"), content_type=random.choice(TYPES)
        )

    def _change_method(self, asked: Asked, random: Random) -> Asked:
        return replace(asked, method=random.choice(METHODS))

    def _change_path(self, asked: Asked, random: Random) -> Asked:
        end = quote(mutations.text(random).encode("utf-8", "surrogatepass"), safe="/?")
        odd = (
            asked.path + end,
            asked.path + "/",
            "/" + asked.path,
            asked.path.upper(),
            asked.path[:-1] or "/",
        )
        return replace(asked, path=random.choice(odd))

    def _typed(self, random: Random) -> str:
        chance = random.random()
        if chance < 0.3:
            return random.choice(NUMBERS)
        if chance < 0.5:
            values = [value for one in self.ground.gathered.seen for _, value in one.fields]
            return random.choice(values or [""])
        return mutations.text(random)


_CHANGES = (
    *(Requests._change_field,) * 5,
    *(
        Requests._change_query,
        Requests._change_query,
        Requests._change_header,
        Requests._change_header,
    ),
    *(Requests._repeat_field, Requests._drop_field, Requests._change_file, Requests._change_cookie),
    *(Requests._change_body, Requests._change_method, Requests._change_path),
)


def _other_files() -> Sequence[bytes]:
    return (
        *(samples.answers(), samples.chunks(), samples.json_answers(), samples.questions()),
        *(
            samples.as_bytes(samples.MANUAL),
            samples.as_bytes(samples.PLACES),
            b"",
            b"x",
            b"PK\x03\x04",
        ),
    )


def _builder(given: Asked) -> EnvironBuilder:
    """Return the request as a browser that stops at nothing would send it."""
    headers = [(name, value) for name, value in given.headers if value.isprintable()]
    query, content_type = _encoded(given.query), given.content_type
    if len(given.path) + len(query) > LONGEST_HEAD:
        raise ValueError("the server takes no address as long as that")
    data: MultiDict[str, object] | bytes | None = None
    if given.body is not None:
        data = given.body.encode("latin-1")
    elif given.files:
        content_type = "multipart/form-data"
        data = MultiDict(
            [(name, value.encode("utf-8", "replace").decode()) for name, value in given.fields]
        )
        files = FileMultiDict()
        for name, called, held in given.files:
            files.add_file(name, io.BytesIO(held.encode("latin-1")), called or None)
        for name, one in files.items(multi=True):
            data.add(name, one)
    elif given.fields:
        content_type = "application/x-www-form-urlencoded"
        data = _encoded(given.fields).encode()
    return EnvironBuilder(
        path=given.path,
        method=given.method,
        query_string=query,
        headers=headers,
        data=data,
        content_type=content_type or None,
    )


def _encoded(pairs: Pairs) -> str:
    """Return pairs as they stand in an address, with bytes that are not UTF-8 among them."""
    return "&".join("=".join(quote(_bytes(one), safe="") for one in pair) for pair in pairs)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _check(answer: TestResponse, text: str, took: float) -> None:
    if answer.status_code >= 500:
        raise Wrong(f"status {answer.status_code}: {text[:100]!r}")
    if "Traceback (most recent call last)" in text:
        raise Wrong("traceback: a reader was shown one")
    if took > SECONDS:
        raise Wrong(f"slow: {took:.1f} s of the processor's time")
