"""``relevansi eval-set``: dev sets, and the version that names a set by its content."""

from __future__ import annotations

from pathlib import Path

import click

from webapp.cli.evaluations.score_output import questions_in
from webapp.cli.frame.options import FILE
from webapp.cli.frame.output import say, write_file


@click.group("eval-set")
def eval_set_command() -> None:
    """Draw dev sets from questions with expected JSON answers, and name sets by content."""


@eval_set_command.command("make")
@click.argument("questions", type=FILE)
@click.option("--n", type=click.IntRange(min=1), required=True, help="How many questions.")
@click.option("--seed", type=int, default=42, show_default=True, help="Same seed, same set.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The set; its name without the ending is the set's name.",
)
def make_command(questions: Path, n: int, seed: int, output: Path) -> None:
    """Draw N questions of QUESTIONS, each expected main topic in proportion.

    Prints the version of the set: name@SHA-1 of the file, which is canonical JSON.
    """
    from webapp.services.evaluations import eval_sets

    asked = questions_in(questions)
    made = eval_sets.make(asked, output.stem, n, seed)
    write_file(output, made.data)
    say(made.version)
    for topic, count in made.topics.items():
        say(f"  {topic or '-'}: {count}", err=True)


@eval_set_command.command("version")
@click.argument("questions", type=FILE)
def version_command(questions: Path) -> None:
    """Print the version of the set in QUESTIONS: name@SHA-1 of its canonical JSON."""
    say(questions_in(questions).version)
