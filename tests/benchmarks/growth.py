"""(a) A click with its figures, in studies of 30, 300 and 1,000 questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.clicking import BLIND, GIVEN, OPEN, WARM, blind_client, open_clients
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Outcome, take_turns
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target
from tests.benchmarks.serving import relevansi
from tests.benchmarks.studies import OWNER, Size, let_owner_judge, made_up, make_blind
from webapp.db.engine import Database

GROWTH = 2
MOST_MS = 50
HOW = f"""\
One browser at a time sends verdicts as the page's script does and waits for each answer: the
verdict is stored durably, and the answer brings the figures and the progress that moved. Every
study has a database and a server of its own, with its questions in twelve categories, and all of
them take turns. Each click is on one of {GIVEN} questions that the rater has just come to. The
ratio is to the smallest study."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A study of a size."""

    size: Size

    @property
    def here(self) -> range:
        """The questions that are judged now."""
        return range(1, min(GIVEN, self.size.questions) + 1)

    def __str__(self) -> str:
        return str(self.size)


def growth(effort: Effort, folder: Path) -> Section:
    """Return the clicks in every scene, on the open and on the blind page."""
    scenes = [Scene(Size(questions)) for questions in effort.sizes]
    with ExitStack() as stack:
        opened = [_made(folder / str(place), scene) for place, scene in enumerate(scenes)]
        servers = [
            stack.enter_context(relevansi(folder / str(place))) for place in range(len(scenes))
        ]
        ports = [server.port for server in servers]
        rows: list[Measurement] = []
        targets: list[Target] = []
        for page in (OPEN, BLIND):
            for database in opened:
                make_blind(database, blind=page == BLIND)
            clients = list(map(_client, scenes, opened, [page] * len(scenes)))
            found = _clicked(effort, ports, clients)
            rows += _rows(page, scenes, found)
            targets += _targets(page, scenes, found)
        for database in opened:
            database.close()
    return Section("a. One click, with its figures", HOW, rows, targets)


def _made(folder: Path, scene: Scene) -> Database:
    database = made_up(folder, scene.size)
    let_owner_judge(database, given=scene.here.stop - 1)
    return database


def _client(scene: Scene, database: Database, page: str) -> Client:
    if page == BLIND:
        return blind_client(database, OWNER, scene.here)
    return open_clients(scene.size, scene.here)[0]


def _clicked(effort: Effort, ports: Sequence[int], clients: Sequence[Client]) -> list[Outcome]:
    """Return what came of all scenes in turns; what they do at first does not count."""
    for warm in (True, False):
        asked = [
            Contestant(
                f"{'warm' if warm else 'scene'} {place}",
                port,
                [client],
                requests=WARM if warm else effort.clicks // 2,
                seconds=effort.seconds / 2,
            )
            for place, (port, client) in enumerate(zip(ports, clients, strict=True))
        ]
        found = take_turns(asked, 1 if warm else max(1, effort.rounds // 2))
    return found


def _rows(page: str, scenes: Sequence[Scene], found: Sequence[Outcome]) -> Iterator[Measurement]:
    smallest = found[0].times.p50
    for scene, outcome in zip(scenes, found, strict=True):
        yield Measurement(
            f"judgment, {page}, {scene}",
            outcome.times,
            outcome.per_second,
            yardstick=str(scenes[0]),
            ratio=outcome.times.p50 / smallest,
        )


def _targets(page: str, scenes: Sequence[Scene], found: Sequence[Outcome]) -> Iterator[Target]:
    """Yield whether each click is quick, and hardly slower in the largest study."""
    for scene, outcome in zip(scenes, found, strict=True):
        p50 = outcome.times.p50
        yield Target(f"p50 under {MOST_MS} ms, {page}, {scene}", f"{number(p50)} ms", p50 < MOST_MS)
    ratio = found[-1].times.p50 / found[0].times.p50
    yield Target(
        f"p50 at most {GROWTH} times that of {scenes[0]}, {page}, {scenes[-1]}",
        number(ratio),
        ratio <= GROWTH,
    )
