"""A study that is served to others: a password, people who came in by links, all got to places.

Everything is done by forms as a browser without a script sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

from playwright.sync_api import Page

from tests.browser.blind import import_study
from tests.browser.server import Server
from tests.page import Page as Received

PASSWORD = "kata sandi pemilik"
OWNER = "Owner"
PATIENCE = 120  # seconds
LONG_NAME = "Muhammad Rizky Ramadhan Siregar-Simanjuntak"


class Person:
    def __init__(self, url: str) -> None:
        self.url = url
        self._cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))
        self._opener.addheaders = [("Accept-Language", "en")]

    def get(self, path: str) -> str:
        with self._opener.open(self.url + path, timeout=PATIENCE) as answer:
            text: str = answer.read().decode()
        return text

    def post(self, path: str, **fields: str) -> str:
        request = Request(self.url + path, data=urlencode(fields).encode())
        with self._opener.open(request, timeout=PATIENCE) as answer:
            text: str = answer.read().decode()
        return text

    def lend(self, page: Page) -> None:
        page.context.add_cookies(
            [
                {"name": cookie.name, "value": cookie.value or "", "url": self.url}
                for cookie in self._cookies
            ]
        )


@dataclass(frozen=True, slots=True)
class Served:
    server: Server
    people: Mapping[str, Person]
    link: str

    def open_as(self, page: Page, name: str, path: str, status: int = 200) -> None:
        page.context.clear_cookies()
        if name in self.people:
            self.people[name].lend(page)
        answer = page.goto(self.server.url + path)
        assert answer is not None
        assert answer.status == status, path


def fill(server: Server, folder: Path) -> Served:
    import_study(server.instance, folder)
    owner = Person(server.url)
    owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
    stops = {
        "all relevant": _rater("1", "5", _never),
        "none relevant": _rater("0", "1", _never),
        "cards": _rater("1", "4", lambda _: True),
        "changed": _rater("1", "4", lambda page: page.has(".remark .confirm")),
        "answers": _rater("unsure", "4", lambda page: page.has("#answer-A")),
        "empty list": _rater("1", "4", lambda page: page.has("#outcome")),
    }
    people = {OWNER: owner}
    for name, rate in stops.items():
        people[name] = Person(server.url)
        people[name].post(link(owner, name))
        rate(people[name])
    return Served(server, people, link(owner, LONG_NAME))


def link(owner: Person, name: str) -> str:
    page = owner.post("/raters/", name=name, days="30", by="link")
    return made_link(page).removeprefix(owner.url)


def made_link(page: str) -> str:
    """Return the link that a page shows this once."""
    return Received(page).one(".address").text


def _rater(
    verdict: str, quality: str, is_there: Callable[[Received], bool]
) -> Callable[[Person], None]:
    def rate(person: Person) -> None:
        while not is_there(page := Received(person.get("/rate/"))) and not page.has("#finished"):
            _next(person, page, verdict, quality)

    return rate


def _next(person: Person, page: Received, verdict: str, quality: str) -> None:
    at = page.one("#question")["data-address"].removeprefix(urlsplit(person.url).path)
    still_open = page.values(".card[data-verdict=''] [name=card]")
    if still_open:
        person.post(f"{at}/judgment", card=still_open[0], relevance=verdict)
    elif page.has("#outcome[data-verdict='']"):
        person.post(f"{at}/rating", empty_outcome="correct_empty")
    else:
        answers = page.values("form.rate:not(:has([checked])) [name=answer]")
        person.post(f"{at}/rating", answer=answers[0], quality=quality, notes="Cukup.")


def _never(_page: Received) -> bool:
    return False
