"""Every page of the product in every state, each reachable by its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from playwright.sync_api import FilePayload, Page, expect

from tests.browser import served
from tests.browser.forked import ForkedServer, running, serving
from tests.browser.served import OWNER, PASSWORD, Served
from tests.browser.server import HYBRID, ROOT, SEEDS, Server

FILES = {
    "hybrid": HYBRID,
    "with empty lists": SEEDS / "api_only" / "test_results.json",
    "with a failed call": SEEDS / "vector_only" / "test_results.json",
}
SHOWN = {2, 12, 13, 14, 18, 20, 24}
"""One question of each kind: the pages of all thirty are the same, only longer."""
WHOLE = 24  # two of its cards, far apart, are the same
FIFTH_CARD = "\n5. **"
CARD = "1. **Rumah Binjai Asri**\n   📍 Binjai\n   💰 Rp 650.000.000\n   🏠 3 Kamar Tidur"
RATED = ({"response": CARD, "results_count": 1},)
LOST = ({"response": "Ada tiga rumah, silakan hubungi kami.", "results_count": 3},)


DOCS = ROOT / "docs"
GUIDES = sorted({file.stem for folder in (DOCS, DOCS / "en") for file in folder.glob("*.md")})


@dataclass(frozen=True)
class Study:
    """A server whose study holds runs of every kind, by what they are good for.

    ``files`` are what the runs were read from, ``place`` is where the databases lie; ``servers``
    ends whatever was started.
    """

    server: Server
    files: dict[str, Path]
    runs: dict[str, str]
    place: Path
    servers: ExitStack

    @cached_property
    def served(self) -> Served:
        """Another server, whose study is blind and served to people with names."""
        server = self.servers.enter_context(serving(self.place / "served"))
        return served.fill(server, self.place)

    @cached_property
    def folder(self) -> FolderServer:
        """Serves several studies."""
        server = FolderServer(self.place / "folder")
        self.servers.enter_context(running(server))
        server.fill()
        return server

    def run(self, kind: str = "hybrid") -> str:
        return f"/runs/{self.runs[kind]}"


class FolderServer(ForkedServer):
    """Serves every study of a folder: one that is open, one that is archived, one that is none."""

    def environment(self) -> dict[str, str]:
        return super().environment() | {"RELEVANSI_STUDIES": str(self.studies)}

    def faults(self) -> str:
        fault = "the database is damaged"  # which one of them is
        lines = super().faults().splitlines(keepends=True)
        return "".join(line for line in lines if fault not in line)

    @property
    def studies(self) -> Path:
        return self.instance / "studies"

    def fill(self) -> None:
        self.post("/studies/new", {"name": "pilot"})
        self.post("/studies/demo", {"name": "lama"})
        self.post("/studies/lama/archive", {})
        (self.studies / "rusak.sqlite").write_bytes(b"no database")


def fill(server: Server, folder: Path, servers: ExitStack) -> Study:
    files = {kind: _shortened(path, folder / f"{kind}.json") for kind, path in FILES.items()}
    files |= {
        "finished": _run_file(folder / "finished.json", "Rumah di Binjai?", RATED),
        "unreadable": _run_file(folder / "unreadable.json", "Rumah di Berastagi?", LOST),
    }
    run_ids = server.import_runs(*files.values())
    study = Study(server, files, dict(zip(files, run_ids, strict=True)), folder, servers)
    server.post("/study/", {"name": "Studi", "blind": "no", "repeat_percent": "0"})
    query = f"{study.run('finished')}/queries/1"
    server.post(f"{query}/results/1/judgment", {"relevance": "1"})
    server.post(f"{query}/rating", {"quality": "5"})
    return study


def visit(page: Page, study: Study, name: str) -> None:
    step = PAGES[name]
    if isinstance(step, str):
        page.goto(study.server.url + step)
    else:
        step(page, study)


def _shortened(sample: Path, path: Path) -> Path:
    document = json.loads(sample.read_text("utf-8"))
    results = [result for result in document["results"] if result["query_id"] in SHOWN]
    for result in results:
        if result["query_id"] != WHOLE and result["results_count"]:
            result["response"] = result["response"].partition(FIFTH_CARD)[0]
            result["response_length"] = len(result["response"])
            result["results_count"] = min(result["results_count"], 4)
    totals = {
        "total_questions": len(results),
        "successful": sum(result["success"] for result in results),
    }
    path.write_text(json.dumps(document | totals | {"results": results}), "utf-8")
    return path


def _run_file(path: Path, question: str, answers: tuple[dict[str, Any], ...]) -> Path:
    results = [
        {"query_id": number, "question": question, "category": "location_simple", "success": True}
        | {"response_length": len(answer["response"])}
        | answer
        for number, answer in enumerate(answers, start=1)
    ]
    document = {
        "timestamp": "20260301_090000",
        "thread_id": path.stem,
        "search_method": path.stem,
        "total_questions": len(results),
        "results": results,
    }
    path.write_text(json.dumps(document), "utf-8")
    return path


def _at(part: str = "", kind: str = "hybrid") -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        page.goto(study.server.url + study.run(kind) + part)

    return step


def _question(query_id: int, kind: str = "hybrid") -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        page.goto(f"{study.server.url}{study.run(kind)}/queries/{query_id}")
        expect(page.locator("html")).to_have_class("scripted")

    return step


def _half_rated(page: Page, study: Study) -> None:
    _question(2)(page, study)
    for rank, verdict in ((1, "1"), (2, "0"), (3, "unsure")):
        with page.expect_response("**/judgment"):
            page.locator(f'#rank-{rank} button[value="{verdict}"]').click()
        expect(page.locator(f"#rank-{rank} .state")).to_have_attribute("data-state", "saved")
    page.route("**/judgment", lambda route: route.abort())
    page.locator('#rank-4 button[value="1"]').click()
    expect(page.locator("#rank-4 .state[data-state=unsaved]")).to_be_visible()


def _reasons(page: Page, study: Study) -> None:
    _question(24)(page, study)
    page.keyboard.type("tw")
    expect(page.locator("#reasons")).to_be_visible()


def _help_sheet(page: Page, study: Study) -> None:
    _question(24)(page, study)
    page.keyboard.press("h")
    expect(page.locator("#keys")).to_be_visible()


def _explained(page: Page, study: Study) -> None:
    _at()(page, study)
    page.locator('[popovertarget="about-rated"]').click()
    expect(page.locator("#about-rated")).to_be_visible()


def _menu(path: str, summary: str, kind: str = "hybrid") -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        page.goto(study.server.url + path.format(run=study.run(kind)))
        page.locator(summary).click()
        expect(page.locator("details.menu[open] > .pop")).to_be_visible()

    return step


def _json(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/json", "buffer": data}


def _offer(page: Page, study: Study, file: FilePayload) -> None:
    page.goto(f"{study.server.url}/runs/import")
    page.set_input_files("#files", file)
    expect(page.locator(".report")).to_be_visible()


def _import_report(page: Page, study: Study) -> None:
    data = json.loads(HYBRID.read_text("utf-8"))
    data["results"] = [result | {"category": "all", "question": f"{result['question']} di Binjai"}
                       for result in data["results"][22:]]  # fmt: skip
    data["thread_id"] = "new"
    _offer(page, study, _json("api_only.json", json.dumps(data).encode()))


def _known_file(page: Page, study: Study) -> None:
    _offer(page, study, _json("again.json", study.files["hybrid"].read_bytes()))


def _refused_file(page: Page, study: Study) -> None:
    _offer(page, study, _json("x.json", b"[1, 2]"))


def _refused_set_up(page: Page, study: Study) -> None:
    page.goto(f"{study.server.url}/study/")
    page.fill("input[name=name]", "")
    page.keyboard.press("Tab")
    expect(page.locator("[aria-invalid=true]")).to_be_visible()


def _forbidden(page: Page, study: Study) -> None:
    page.goto("about:blank")
    page.set_content(f'<form method="post" action="{study.server.url}/study/"><button>')
    page.locator("button").click()
    expect(page.locator(".error-page > p").first).to_have_text("403")


def _as(name: str, path: str, status: int = 200) -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        study.served.open_as(page, name, path, status)

    return step


def _of_folder(path: str) -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        page.goto(study.folder.url + path)

    return step


def _refused_backup(page: Page, study: Study) -> None:
    page.goto(f"{study.folder.url}/")
    page.fill("[aria-labelledby=new] input[name=name]", "baru")
    page.set_input_files("input[type=file]", study.files["hybrid"])
    page.locator("button[formaction$='/backup']").click()
    expect(page.locator("#name-error")).to_be_visible()


def _sign_in_refused(page: Page, study: Study) -> None:
    study.served.people[OWNER].post("/sign-in", password=PASSWORD)
    study.served.open_as(page, "a stranger", "/sign-in")
    page.fill("input[name=password]", "salah")
    page.locator("form[action*=sign-in] button").click()
    expect(page.locator("#password-error")).to_be_visible()


def _join(page: Page, study: Study) -> None:
    study.served.open_as(page, "somebody invited", study.served.link)


def _new_link(page: Page, study: Study) -> None:
    study.served.open_as(page, OWNER, "/raters/")
    page.fill("[aria-labelledby=add] input[name=name]", "cards")
    page.locator("[aria-labelledby=add] button").first.click()
    expect(page.locator(".qr")).to_be_visible()


def _remove_rater(page: Page, study: Study) -> None:
    study.served.open_as(page, OWNER, "/raters/")
    row = page.locator(".rater-line", has=page.locator("a[href$='/remove']")).first
    row.locator("summary").click()
    row.locator("a[href$='/remove']").click()
    expect(page).to_have_url(re.compile("/remove$"))


def _unfolded(page: Page, study: Study) -> None:
    page.goto(f"{study.server.url}/comparisons/?part=differences")
    page.locator("summary").evaluate_all("found => found.forEach(one => one.click())")
    expect(page.locator("main table").first).to_be_visible()


def _compared_question(page: Page, study: Study) -> None:
    page.goto(f"{study.server.url}/comparisons/?part=questions")
    page.locator("a[href*='/comparisons/questions/']").first.click()
    expect(page.locator(".drill")).to_be_visible()


def _checked(part: str = "") -> Callable[[Page, Study], None]:
    def step(page: Page, study: Study) -> None:
        here = f"{study.server.url}/constraints/{study.runs['hybrid']}"
        page.goto(here)
        if page.locator("#no-gold").count():
            page.locator("a[href*='/gold/']").click()
            with page.expect_download() as starter:
                page.locator("a[download]").click()
            page.locator("#gold-file").set_input_files(starter.value.path())
            page.locator("form[action$='/import'] button").click()
            if part == "gold":
                return
            page.goto(here)
        if part == "gold":
            page.locator("a[href*='/gold/']").click()
            return
        page.goto(here + part)
        expect(page.locator("h1")).to_be_visible()

    return step


def _waiting(page: Page, study: Study) -> None:
    page.goto(f"{study.server.url}{study.run()}/queries/24")
    expect(page.locator("html")).to_have_class("scripted")
    page.context.set_offline(True)
    page.keyboard.press("y")
    expect(page.locator("#outbox")).to_be_visible()


PAGES: dict[str, str | Callable[[Page, Study], None]] = {
    "home": "/",
    "menu of the person": _menu("/", "#account > summary"),
    "menu of a run's files": _menu("{run}", "summary:text-is('Unduh')", "finished"),
    "menu of a comparison's files": _menu("/comparisons/", ".formats summary"),
    "menu of a rating page": _menu("{run}/queries/24", "#menu > summary"),
    "runs": "/runs/",
    "labels and files": _at("/files"),
    "run": _at(),
    "run with an explanation open": _explained,
    "finished run": _at(kind="finished"),
    "rating: cards": _question(24),
    "rating: every kind of verdict": _half_rated,
    "rating: reasons of a verdict": _reasons,
    "rating: help sheet": _help_sheet,
    "rating: empty list": _question(12, "with empty lists"),
    "rating: failed call": _question(20, "with a failed call"),
    "rating: unreadable answer": _question(1, "unreadable"),
    "rating: question that depends on its conversation": _question(14),
    "rating: last open question": _question(1, "finished"),
    "blind rating: cards": "/rate/",
    "rating: a click that waits": _waiting,
    "no network": "/offline/id",
    "import": "/runs/import",
    "catalogue": "/catalogue",
    "import report": _import_report,
    "import report of a known file": _known_file,
    "refused file": _refused_file,
    "study set-up": "/study/",
    "study set-up refused": _refused_set_up,
    "study standing": "/study/standing",
    "more of the study": "/study/more",
    "machine judges, none configured": "/study/machine-judges/",
    "phase 3 set-up": "/study/users/",
    "constraints": _checked(),
    "constraints of one question": _checked("/2"),
    "gold questions": _checked("gold"),
    "comparison": "/comparisons/",
    "comparison, everything unfolded": _unfolded,
    "comparison of one question": _compared_question,
    "what each number means": "/measures/",
    "guides": "/help/",
    **{f"guide: {name}": f"/help/{name}" for name in GUIDES},
    "sign-in": _as("a stranger", "/sign-in"),
    "sign-in refused": _sign_in_refused,
    "invitation": _join,
    "invitation that lets nobody in": _as("a stranger", "/join/nobody", 404),
    "password": _as(OWNER, "/password"),
    "raters": _as(OWNER, "/raters/"),
    "raters with a new link": _new_link,
    "rater about to go": _remove_rater,
    "who judges what": _as(OWNER, "/study/assignments"),
    "agreement": _as(OWNER, "/agreement"),
    "agreement on quality": _as(OWNER, "/agreement?of=quality"),
    "adjudications": _as(OWNER, "/adjudications/"),
    "settings, scale": _as(OWNER, "/study/?part=scale"),
    "settings, blind": _as(OWNER, "/study/?part=blind"),
    "settings, guidelines": _as(OWNER, "/study/?part=guidelines"),
    "history": _as(OWNER, "/history/"),
    "history of a blind rater": _as("all relevant", "/history/"),
    "blind rating: a rater's cards": _as("cards", "/rate/"),
    "blind rating: changed content": _as("changed", "/rate/"),
    "blind rating: answers": _as("answers", "/rate/"),
    "blind rating: empty list": _as("empty list", "/rate/"),
    "blind rating: done": _as("all relevant", "/rate/"),
    "no door for a rater": _as("cards", "/study/", 403),
    "studies of a folder": _of_folder("/"),
    "backup that makes no study": _refused_backup,
    "broken study of a folder": _of_folder("/s/rusak/"),
    "archived study": _of_folder("/s/lama/"),
    "archived study: set-up": _of_folder("/s/lama/study/"),
    "archived study: cards": _of_folder("/s/lama/rate/"),
    "delete": _at("/delete"),
    "nothing there": "/nothing-there",
    "forbidden": _forbidden,
}
