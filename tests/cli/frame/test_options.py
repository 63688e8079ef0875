"""Options that several commands share mean the same in each."""

from __future__ import annotations

from pathlib import Path

import click
from click.testing import CliRunner

from webapp.cli.frame.options import formats


def test_the_first_format_is_meant_where_none_is_named() -> None:
    @click.command()
    @formats("table", "json")
    def command(file_format: str, output: Path | None) -> None:
        click.echo(f"{file_format} {output}")

    run = CliRunner().invoke

    assert run(command, []).output == "table None\n"
    assert run(command, ["--format", "json", "-o", "x.json"]).output == "json x.json\n"
    assert run(command, ["--format", "csv"]).exit_code == 2
