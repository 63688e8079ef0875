"""Texts that say nothing."""

from __future__ import annotations

NOTHING = ["-", "–", "—", "n/a", "N/A", "null", "none", "nil", "Tidak ada", "kosong", "?"]
