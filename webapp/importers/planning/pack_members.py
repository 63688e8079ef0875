"""The rules, samples and machine verdicts that a proof pack states, read as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from webapp.importers.runs.json_documents import FromFile, storable_text

Moment = Annotated[AwareDatetime, Field(strict=False)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Verdict = Literal["1", "0", "unsure"]


class WrongPlace(ValueError):
    """A member that cannot be used, with the place in it."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name, place)
        self.name = name
        self.place = place


Scalar = str | int | float | bool | None
Setting = Scalar | Sequence[Scalar | Mapping[str, Scalar]] | Mapping[str, Scalar]


class PackedRule(FromFile):
    """A rule as a pack states it."""

    kind: Literal["by_effect", "fixed", "sequence", "machine_help"]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    chosen_at: Moment
    verdicts_before: Count
    ended_at: Moment | None
    verdicts_at_end: Count | None
    outcome: Annotated[str, Field(pattern="^[a-z_]{1,16}$")] | None
    settings: Mapping[str, Setting]
    sample: Sequence[Annotated[int, Field(ge=1)]]
    strata: Sequence[str]


RulesBySet = Mapping[str, Sequence[PackedRule]]
VerdictsByMachine = Mapping[str, Mapping[str, Mapping[str, Sequence[Verdict | None]]]]
"""A machine's verdicts in rank order, by its name, the run and the query's number."""

_RULES: TypeAdapter[RulesBySet] = TypeAdapter(RulesBySet)
_VERDICTS: TypeAdapter[VerdictsByMachine] = TypeAdapter(VerdictsByMachine)


def rules(name: str, document: object) -> RulesBySet:
    """Return the rules of each question set; raises ``WrongPlace``."""
    found: RulesBySet = _read(_RULES, name, document)
    for question_set, listed in found.items():
        for number, rule in enumerate(listed):
            texts = [*rule.strata, *_texts(dict(rule.settings))]
            is_twice = len(set(rule.sample)) < len(rule.sample)
            if is_twice or len(rule.strata) != len(rule.sample) or not all(map(_storable, texts)):
                raise WrongPlace(name, f"{question_set}.{number}.sample")
    return found


def verdicts(name: str, document: object) -> VerdictsByMachine:
    """Return the verdicts of each machine; raises ``WrongPlace``."""
    found: VerdictsByMachine = _read(_VERDICTS, name, document)
    for machine in found:
        if not machine or not _storable(machine):
            raise WrongPlace(name, ascii(machine))
    return found


def _read(adapter: TypeAdapter[Any], name: str, document: object) -> Any:
    try:
        return adapter.validate_python(document)
    except ValidationError as wrong:
        (first, *_) = wrong.errors(include_url=False, include_context=False, include_input=False)
        raise WrongPlace(name, ".".join(map(str, first["loc"]))) from wrong


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*map(str, value), *(text for one in value.values() for text in _texts(one))]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _storable(text: str) -> bool:
    return text == storable_text(text)
