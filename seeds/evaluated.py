"""A small file for each kind of automatic evaluation, made from listings of the catalogue."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256

from listings import DemoListing

from relevansi.metrics.evaluations.json_answers import eval_set_version


def _told(one: DemoListing) -> str:
    return (
        f"{one.title} di {one.location}. Harga Rp {one.price}. Luas tanah {one.land_area} m2, "
        f"luas bangunan {one.building_area} m2. Sertifikat {one.certificate}."
    )


def _complete(listings: Sequence[DemoListing]) -> list[DemoListing]:
    """Return listings of every part of town of which all is known."""
    known = [
        one for one in listings
        if one.bedrooms and one.land_area and one.building_area and one.price
    ]  # fmt: skip
    return known[:: len(known) // 12][:12]


def cited_answers(listings: Sequence[DemoListing]) -> Iterator[dict[str, object]]:
    """Yield cited answers: supported, half supported, citing what was not there, and refused."""
    for n, one in enumerate(_complete(listings)):
        context = {"id": f"d{one.id}", "text": _told(one)}
        gold = f"Luas tanah {one.land_area} m2 dan harga Rp {one.price}"
        answer = (
            f"{gold} [CIT:d{one.id}].",
            f"{gold} [CIT:d{one.id}]. Lingkungannya tenang dan bebas banjir.",
            f"Luas tanah {one.land_area} m2 [CIT:d1].",
            f"Sertifikat {one.certificate} [CIT:d{one.id}]. Harga bisa dinegosiasikan.",
        )[n % 4]
        yield {
            "id": f"a{n + 1}",
            "question": f"Berapa luas tanah dan harga {one.title} di {one.area}?",
            "answer": answer,
            "gold": gold,
            "contexts": [context],
            "usage": [{"prompt_tokens": 310 + 7 * n, "completion_tokens": 34 + n}],
            "latency_ms": 900 + 60 * n,
        }


def chunks(listings: Sequence[DemoListing]) -> Iterator[dict[str, object]]:
    """Yield retrieved chunks by two strategies: whole paragraphs find more than sentences."""
    chosen = _complete(listings)
    for n, one in enumerate(chosen):
        other = chosen[(n + 1) % len(chosen)]
        for strategy in ("paragraf", "kalimat"):
            own = _told(one) if strategy == "paragraf" or n % 3 else _told(other)
            found = [own] if strategy == "paragraf" else own.split(". ")
            yield {
                "id": f"{strategy}-{n + 1}",
                "question": f"Berapa harga {one.title} di {one.area}?",
                "expected_answer": f"Harga Rp {one.price}",
                "retrieved_chunks": [*found, _told(other)][: 3 if strategy == "kalimat" else 2],
                "strategy": strategy,
            }


def json_answers(listings: Sequence[DemoListing]) -> dict[str, object]:
    """Return JSON answers: most are right, and each kind of fault occurs."""
    items = []
    for n, one in enumerate(_complete(listings)[:8]):
        example = {
            "target_audience": "keluarga",
            "main_topic": "rumah" if one.property_type == "house" else "properti lain",
            "sub_topic": one.area.lower(),
            "detailed_description": [f"{one.bedrooms} kamar tidur", f"tanah {one.land_area} m2"],
            "original_evidence": _told(one),
            "source_map": [],
            "predicted_questions": [f"Berapa harga rumah di {one.area}?"],
        }
        refs = [{"refs": [{"file": f"{one.id}.md", "anchors": [f"Harga Rp {one.price}"]}]}]
        given = json.dumps(example | {"source_map": refs}, ensure_ascii=False)
        wrong = json.dumps(example | {"main_topic": "kantor", "source_map": refs})
        items.append(
            {
                "id": f"j{n + 1}",
                "question": f"Siapkan ringkasan {one.title} di {one.area}.",
                "expected": {"answer_example": example, "source_map": refs},
                "output": {3: wrong, 5: f"```json\n{given}\n```", 7: given[:200]}.get(n, given),
                "context": [{"source_path": f"{one.id}.md", "text": _told(one)}],
            }
        )
    return {
        "prompt_sha256": sha256(b"ringkas").hexdigest(),
        "prompt_version": "1",
        "index_version": "2026-02",
        "model_id": "openai",
        "adapter_id": "none",
        "eval_set_version": eval_set_version("json", items),
        "items": items,
    }
