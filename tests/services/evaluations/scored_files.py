from __future__ import annotations

import json
from typing import Any

ANSWERS: tuple[dict[str, Any], ...] = (
    {
        "id": "q1",
        "question": "Berapa kamar?",
        "answer": "Ada tiga kamar [CIT:d1]. Harganya murah. Tidak tahu.",
        "gold": "Ada tiga kamar",
        "contexts": [{"id": "d1", "text": "Rumah tiga kamar di Cemara"}],
        "usage": [{"prompt_tokens": 90, "completion_tokens": 10}],
        "latency_ms": 850,
        "claim_similarities": [0.8, 0.1],
    },
    {
        "id": "q2",
        "question": "Ada kolam?",
        "answer": "Ada kolam [CIT:d9].",
        "contexts": [{"id": "d1", "text": "kolam"}],
        "claim_similarities": [0.9],
    },
    {
        "id": "q3",
        "question": "Luas?",
        "answer": "Luasnya 90 m2 [CIT:d1].",
        "contexts": [{"id": "d1", "text": "90 m2"}],
        "claim_similarities": [0.7],
    },
)
"""Overlap: 1 of 2 claims, 0 of 1 (d9 is not a context), 1 of 1."""

CHUNKS: tuple[dict[str, Any], ...] = (
    {
        "id": "c1",
        "question": "Di mana?",
        "expected_answer": "rumah di cemara",
        "retrieved_chunks": ["rumah besar", "kolam renang"],
        "strategy": "hybrid",
    },
    {
        "id": "c2",
        "question": "Berapa?",
        "expected_answer": "tiga kamar",
        "retrieved_chunks": ["kolam"],
        "strategy": "vector",
    },
)
"""c1: 1 common of 3 expected and 4 retrieved, iou 1/6; c2: nothing in common."""

EXAMPLE: dict[str, Any] = {
    "target_audience": "keluarga",
    "main_topic": "rumah",
    "sub_topic": "cemara",
    "detailed_description": ["tiga kamar", "dekat sekolah"],
    "original_evidence": "sertifikat hak milik lengkap dan listrik 2200 watt di rumah ini",
    "source_map": [],
    "predicted_questions": ["berapa harganya"],
}

PROVENANCE = {
    "prompt_sha256": "9f" * 32,
    "prompt_version": "1",
    "index_version": "1",
    "model_id": "m",
    "adapter_id": "none",
    "eval_set_version": f"set@{'0' * 40}",
}

JSON_SET: dict[str, Any] = {
    **PROVENANCE,
    "items": [
        {
            "id": "j1",
            "question": "Apa ini?",
            "expected": {"answer_example": EXAMPLE, "source_map": []},
            "output": json.dumps(
                EXAMPLE
                | {
                    "main_topic": "apartemen",
                    "source_map": [{"refs": [{"file": "a.md", "anchors": ["tiga kamar"]}]}],
                }
            ),
            "context": [{"source_path": "a.md", "text": "Ada tiga kamar."}],
        },
        {
            "id": "j2",
            "question": "Dan ini?",
            "expected": {"answer_example": EXAMPLE, "source_map": []},
            "output": "```json\n{}\n```",
        },
    ],
}


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def document(value: object) -> bytes:
    return json.dumps(value).encode()


WITHOUT_COSINES = lines(
    *({key: value for key, value in row.items() if key != "claim_similarities"} for row in ANSWERS)
)
