"""docs/chatbots.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from relevansi.chatbot import mappings
from relevansi.chatbot.failures import FINAL, KINDS

TEXT = (Path(__file__).parents[2] / "docs" / "chatbots.md").read_text("utf-8")


def test_every_failure_is_in_the_table_with_whether_it_is_retried() -> None:
    rows = dict(re.findall(r"^\|.*\| `(\w+)` \| (yes|no)", TEXT, re.MULTILINE))

    assert rows == {code: "no" if code in FINAL else "yes" for code in KINDS}


def test_the_mapping_in_the_guide_is_usable() -> None:
    example = next(
        block for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) if "send" in block
    )

    mapping = mappings.read("docs", example.encode())

    assert (mapping.text, mapping.items, mapping.session) == ("data.answer", "data.hits", "chat.id")
