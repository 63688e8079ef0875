"""Every format of a comparison says the same, escapes what is hostile, and repeats itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import (
    DAY,
    three_runs,
)
from webapp.exporters.comparisons.files import FORMATS, file_name


@pytest.mark.parametrize("name", FORMATS)
def test_a_second_run_gives_the_same_bytes(name: str) -> None:
    assert FORMATS[name].render(three_runs(), DAY) == FORMATS[name].render(three_runs(), DAY)


def test_files_are_named_as_the_original_scripts_named_them() -> None:
    report = three_runs()

    assert file_name(report, "markdown", DAY) == "phase1_comparison_20260123.md"
    assert file_name(replace(report, phase=2), "xlsx", DAY) == "phase2_comparison_20260123.xlsx"
    assert file_name(replace(report, phase=None), "latex", DAY) == "comparison_20260123.tex"
    with pytest.raises(KeyError):
        file_name(report, "docx", DAY)


def test_loading_the_formats_loads_no_pandas_numpy_or_converter() -> None:
    code = (
        "import sys; from webapp.exporters.comparisons import files; "
        "from webapp.exporters.comparisons import pictures; "
        "print(sorted({'pandas', 'numpy', 'resvg_py', 'reportlab', 'svglib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
