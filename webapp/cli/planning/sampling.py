"""``relevansi sample``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from sqlalchemy.orm import Session

from webapp.cli.frame import database
from webapp.cli.frame.output import write, write_json
from webapp.cli.frame.tables import TerminalTable, printed
from webapp.cli.planning import question_sets
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.db.tables.study import QuestionSet, Study
    from webapp.metrics.planning.samples import QuestionSample
    from webapp.services.planning.samples import SampleWish

WIDTH = 100
KINDS = ("fixed", "sequence", "machine_help")
FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")


@click.command("sample")
@click.option("--questions", type=click.IntRange(1), help="Draw so many.")
@click.option("--by", type=click.Choice(["category"]), help="Each category in proportion.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Of the draw; else one is drawn.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help='"fixed" (its size, so chosen), "sequence" (grows until it is enough) or "machine_help".',
)
@click.option("--runs", "pair", nargs=2, metavar="ID ID", help="A sequence ends when these differ")
@click.option("--figure", type=click.Choice(FIGURES), help="in this figure")
@click.option("--width", type=click.FloatRange(0, 10, min_open=True), help="or are known so well.")
@click.option("--more", type=click.IntRange(1), help="Draw so many more; what was drawn stays.")
@click.option("--category", help="All of these of this category.")
@click.option("--close", "closes", is_flag=True, help="End the sample.")
@question_sets.option
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def sample_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    questions: int | None,
    by: str | None,
    seed: int | None,
    kind: str | None,
    pair: tuple[str, str] | None,
    figure: str | None,
    width: float | None,
    more: int | None,
    category: str | None,
    closes: bool,
    question_set: int | None,
    file_format: str,
) -> None:
    """Draw questions at random, add to those drawn, or say how far the sample is.

    A sample is drawn before the first verdict. Raters are then asked its questions only; the
    others are "not asked", and missing nowhere. Without an option that changes it, the sample in
    force is printed with the figures that its rule allows by now.

    \b
    JSON: {rule: {kind, seed, chosen_at, verdicts_before, settings, n, of, sample, strata} or null,
      rated, figures: [{figure, runs, value, lower, upper, n, drawn, of}],
      looks: [{n, lower, upper, outcome}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    from webapp.services.study import studies

    of_draw = {"--by": by, "--seed": seed, "--kind": kind, "--runs": pair, "--figure": figure}
    _only_with("--questions", questions, {**of_draw, "--width": width})
    _only_with("--more", more, {"--category": category})
    if sum((questions is not None, more is not None, closes)) > 1:
        raise click.UsageError(gettext("Say one of --questions, --more and --close."))
    wish = None
    if questions is not None:
        wish = _wish(questions, kind, pair, figure, width, seed, stratified=by is not None)
    with database.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, database.now())
        chosen = question_sets.chosen(session, study, question_set)
        _change(session, study, chosen, wish, more, category, closes=closes)
        _print(session, study, chosen, as_json=file_format == "json")
        session.commit()


def _only_with(name: str, given: object, others: dict[str, object]) -> None:
    for other, value in others.items():
        if given is None and value is not None:
            raise click.UsageError(
                gettext("%(option)s goes with %(other)s.", option=other, other=name)
            )


def _wish(
    size: int,
    kind: str | None,
    pair: tuple[str, str] | None,
    figure: str | None,
    width: float | None,
    seed: int | None,
    *,
    stratified: bool,
) -> SampleWish:
    from webapp.services.planning.rules import RuleKind
    from webapp.services.planning.samples import SampleWish

    grows = kind == "sequence"
    if not grows and (pair or figure or width):
        raise click.UsageError(gettext("--runs, --figure and --width go with --kind sequence."))
    if grows and not pair:
        raise click.UsageError(gettext("Name the two runs of the difference: --runs ID ID."))
    if grows and stratified:
        raise click.UsageError(gettext("A sample that grows is drawn without categories."))
    return SampleWish(
        size=size,
        kind=RuleKind(kind or "fixed"),
        stratified=stratified,
        figure=figure or FIGURES[0],
        runs=pair or (),
        width=width,
        seed=seed,
    )


def _change(
    session: Session,
    study: Study,
    chosen: QuestionSet,
    wish: SampleWish | None,
    more: int | None,
    category: str | None,
    *,
    closes: bool,
) -> None:
    from webapp.services.planning import samples
    from webapp.services.study import studies

    if wish is not None:
        owner = studies.raters(session, study)[0]
        samples.draw(session, owner, chosen, wish, database.now())
    elif more is not None:
        samples.extend(session, chosen, more, category)
    elif closes:
        samples.finish(session, study, chosen, database.now())


def _print(session: Session, study: Study, chosen: QuestionSet, *, as_json: bool) -> None:
    from webapp.exporters.planning import sample as words
    from webapp.services.planning import samples

    found = samples.of_set(session, study, chosen)
    if as_json:
        nothing: dict[str, Any] = {"rule": None, "rated": 0, "figures": [], "looks": []}
        write_json(words.sample_json(found) if found else nothing, None)
    else:
        write(printed(_parts(found), width=WIDTH), None)


def _parts(found: QuestionSample | None) -> Iterator[TerminalTable | str]:
    from webapp.exporters.planning import sample as words

    if found is None:
        yield gettext("No sample is drawn: raters are asked all questions.")
        return
    yield from words.sentences(found)
    yield words.drawn(found)
    if not found.figures:
        return
    made = words.table(found)
    table = TerminalTable(made.title)
    table.left(*(column.heading for column in made.columns[:2]))
    table.right(*(column.heading for column in made.columns[2:]))
    for row in made.rows:
        table.row(*(cell.text for cell in row))
    yield table
    yield from made.notes
