"""Rated CSVs as files."""

from __future__ import annotations

from pathlib import Path

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes\n"
)


def rated(folder: Path, *lines: str, name: str = "rated.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (f"{n},rumah {n},lokasi,{line}\n" for n, line in enumerate(lines, 1))
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path
