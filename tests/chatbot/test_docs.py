"""docs/chatbots.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from relevansi.chatbot import mappings
from relevansi.chatbot.failures import FINAL, KINDS

TEXT = (Path(__file__).parents[2] / "docs" / "chatbots.md").read_text("utf-8")


def test_every_failure_stands_in_the_table_with_what_follows() -> None:
    rows = dict(re.findall(r"^\|.*\| `(\w+)` \| (yes|no)", TEXT, re.MULTILINE))

    assert rows == {code: "no" if code in FINAL else "yes" for code in KINDS}


def test_the_mapping_that_is_shown_can_be_followed() -> None:
    example = next(
        block for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL) if "send" in block
    )

    mapping = mappings.read("docs", example.encode())

    assert (mapping.text, mapping.items, mapping.session) == ("data.answer", "data.hits", "chat.id")
