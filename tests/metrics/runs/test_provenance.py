"""Fields say where answers come from; what is missing or no hash is named."""

from __future__ import annotations

import pytest

from webapp.metrics.runs.provenance import (
    PROVENANCE,
    missing_provenance,
    no_hashes,
    stated_provenance,
)

ALL = dict.fromkeys(PROVENANCE, "x")


def test_stated_fields_come_in_order_without_blanks_and_without_others() -> None:
    fields = {"model_id": 7, "prompt_sha256": " 9f ", "index_version": " ", "other": "x"}

    assert list(stated_provenance(fields).items()) == [("prompt_sha256", "9f"), ("model_id", "7")]


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ((), ()),
        (("adapter_id",), ()),
        (("registry_model_id",), ()),
        (("adapter_id", "registry_model_id"), ("adapter_id",)),  # one of both is enough
        (("index_version", "adapter_id"), ("index_version",)),
    ],
)
def test_a_missing_field_is_named_and_of_the_parts_of_a_model_one_is_enough(
    left_out: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    stated = {name: text for name, text in ALL.items() if name not in left_out}

    assert missing_provenance(stated) == missing


@pytest.mark.parametrize(
    ("name", "text", "is_hash"),
    [
        ("prompt_sha256", "0" * 64, True),
        ("prompt_sha256", "AB" * 32, True),
        ("prompt_sha256", "0" * 63, False),
        ("prompt_sha256", "g" * 64, False),
        ("eval_set_version", "dev@" + "a" * 40, True),
        ("eval_set_version", "@" + "a" * 40, False),
        ("eval_set_version", "dev@" + "a" * 41, False),
        ("model_id", "anything", True),
    ],
)
def test_a_field_that_should_hold_a_hash_is_named_where_it_does_not(
    name: str, text: str, is_hash: bool
) -> None:
    assert no_hashes({name: text}) == (() if is_hash else (name,))
