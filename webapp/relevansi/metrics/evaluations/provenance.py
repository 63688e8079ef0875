"""Where JSON answers come from: the fields that every report carries, and the flaws in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

PROVENANCE = (
    *("prompt_sha256", "prompt_version", "index_version", "model_id"),
    *("adapter_id", "registry_model_id", "eval_set_version"),
)
"""The fields of every report that let it be repeated; of ``MODEL_PARTS`` one is enough."""

MODEL_PARTS = ("adapter_id", "registry_model_id")
_HASHES = {
    "prompt_sha256": re.compile("[0-9a-f]{64}", re.IGNORECASE),
    "eval_set_version": re.compile(r"\S.*@[0-9a-f]{40}", re.IGNORECASE),
}


def stated_provenance(fields: Mapping[str, object]) -> dict[str, str]:
    """The fields of ``PROVENANCE`` that `fields` states, in order; blank ones are left out.

    >>> stated_provenance({"model_id": " m ", "index_version": "", "other": "x"})
    {'model_id': 'm'}
    """
    texts = {name: str(fields.get(name) or "").strip() for name in PROVENANCE}
    return {name: text for name, text in texts.items() if text}


def missing_provenance(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that are missing; an adapter or a registry's model is enough.

    >>> missing_provenance({"prompt_sha256": "9f", "model_id": "m", "index_version": "1",
    ...                     "registry_model_id": "r", "eval_set_version": "1"})
    ('prompt_version',)
    """
    missing = tuple(name for name in PROVENANCE if name not in provenance)
    adapter, model = MODEL_PARTS
    return tuple(n for n in missing if n != model and (n != adapter or model in missing))


def no_hashes(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that hold something else than the hash that belongs there.

    ``prompt_sha256`` is 64 hexadecimal digits, ``eval_set_version`` a name, ``@`` and 40.

    >>> no_hashes({"prompt_sha256": "9f", "eval_set_version": f"dev@{'0' * 40}"})
    ('prompt_sha256',)
    """
    return tuple(
        name
        for name, form in _HASHES.items()
        if name in provenance and not form.fullmatch(provenance[name])
    )
