"""How often could an empty answer have shown something? Figures of recorded runs, as a table.

``python -m docs.empty_answers FOLDER...`` reads the run files of each folder, and its gold file
where there is one. Printed are numbers only, no text of a question or listing. An answer counts as
empty where no card could be read and none is claimed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from relevansi.importers.gold import gold_questions, listed_properties
from relevansi.importers.runs import json_runs
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.gold.constraint_rules import CardFacts, Constraints, Outcome, check_card
from relevansi.records import QueryState, ReadRun

HEADINGS = (
    *("Run", "Questions", "Empty", "Same question answered elsewhere"),
    *("Empty with a listing that meets its constraints", "Such listings"),
)


class Recorded(NamedTuple):
    """What a folder holds: its runs, each once, all cards it lists, constraints by question."""

    runs: tuple[ReadRun, ...]
    cards: frozenset[CardFacts]
    constraints: Mapping[int, Constraints]


class EmptyAnswersOfRun(NamedTuple):
    """``fitting`` are numbers of listings for each empty answer; ``None`` without a gold file."""

    name: str
    questions: int
    empty: int
    answered_elsewhere: int
    fitting: tuple[int, ...] | None


def read(folder: Path) -> Recorded:
    """Return what can be read of the JSON files in a folder; other files are passed over."""
    runs: dict[str, ReadRun] = {}
    cards: set[CardFacts] = set()
    constraints: dict[int, Constraints] = {}
    for path in sorted(folder.rglob("*.json")):
        data = path.read_bytes()
        if json_runs.recognises(data):
            run = json_runs.read(path.name, data)
            runs.setdefault(json_runs.session_key(run), run)
        try:
            listed = listed_properties.read(path.name, data).cards
            cards |= {card for of_question in listed.values() for card in of_question}
        except ImportRefused:
            pass  # a file of another kind
        try:
            gold = gold_questions.read(path.name, data)
            constraints |= {question.query_id: question.constraints for question in gold.questions}
        except ImportRefused:
            pass  # a file of another kind
    return Recorded(tuple(runs.values()), frozenset(cards), constraints)


def meets(constraints: Constraints, card: CardFacts) -> bool:
    """Whether a listing meets all that a question asks; never where it asks nothing."""
    outcomes = {check.outcome for check in check_card(constraints, card)} - {Outcome.NA}
    return outcomes == {Outcome.PASS}


def count(recorded: Recorded) -> Iterator[EmptyAnswersOfRun]:
    """Yield the figures of each run of a folder."""
    answered = {
        json_runs.question_key(query.question)
        for run in recorded.runs
        for query in run.queries
        if query.cards
    }
    for number, run in enumerate(recorded.runs, start=1):
        empty = [query for query in run.queries if query.state is QueryState.EMPTY]
        fitting = None
        if recorded.constraints:
            asked = [recorded.constraints.get(query.query_id, Constraints()) for query in empty]
            fitting = tuple(sum(meets(each, card) for card in recorded.cards) for each in asked)
        yield EmptyAnswersOfRun(
            f"{number} ({run.search_method or '-'})",
            len(run.queries),
            len(empty),
            sum(json_runs.question_key(query.question) in answered for query in empty),
            fitting,
        )


def table(runs: Sequence[EmptyAnswersOfRun]) -> str:
    """Return the figures as a table in Markdown."""
    lines = [f"| {' | '.join(HEADINGS)} |", f"|---{'|---:' * (len(HEADINGS) - 1)}|"]
    for run in runs:
        fitting = ("-", "-")
        if run.fitting is not None:
            fitting = (str(sum(map(bool, run.fitting))), str(sum(run.fitting)))
        cells = (run.name, *map(str, run[1:4]), *fitting)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    figures = [run for folder in sys.argv[1:] for run in count(read(Path(folder)))]
    sys.stdout.write(f"{table(figures)}\n")
