"""Eight made-up participants of phase 3, whose answers were recorded once."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).with_name("demo") / "participants.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its category, the verdicts card by card (repeated), quality and a note."""

    text: str
    category: str
    verdicts: str
    quality: int
    note: str = ""
    theme: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A participant with the ten SUS answers, what helped, what was missing, and its theme."""

    pseudonym: str
    asked: tuple[Asked, ...]
    usability: str
    helped: str = ""
    missing: str = ""
    theme: str = ""


PEOPLE = (
    Person(
        "Melati",
        (
            Asked("Rumah dijual di Johor di bawah 1 M", "location_price", "11101", 4),
            Asked("Yang 3 kamar ada?", "context_modify", "110", 3, "Sebagian bukan 3 kamar."),
        ),
        "4251415242",
        "Alamatnya lengkap.",
        "Foto rumah.",
        "Foto",
    ),
    Person(
        "Kenari",
        (
            Asked("Ruko disewa di Krakatau", "property_type", "1", 5),
            Asked("Tanah dijual di Marelan di bawah 500 juta", "location_price", "1101", 4),
        ),
        "5142414151",
        "Cepat menjawab.",
    ),
    Person(
        "Jati",
        (
            Asked("Apartemen di Podomoro di bawah 1,5 M", "complex_query", "110", 4),
            Asked(
                "Gudang di KIM",
                "property_type",
                "0",
                1,
                "Tidak ada yang di KIM.",
                "Tidak menemukan lokasi",
            ),
        ),
        "3342424242",
        "",
        "Jarak ke kantor saya.",
        "Jarak",
    ),
    Person(
        "Dahlia",
        (
            Asked("Rumah sewa dekat kampus USU", "nearby_search", "1011", 4),
            Asked(
                "rumah dekat mall di bawah 800 juta",
                "nearby_price",
                "10",
                3,
                "Harga tidak cocok.",
                "Harga meleset",
            ),
            Asked("Rumah dijual di Cemara", "location_simple", "1", 5),
        ),
        "4242425141",
        "Ada jarak ke mall dan sekolah.",
        "Peta.",
        "Peta",
    ),
    Person(
        "Merak",
        (
            Asked("Rumah mewah dengan kolam renang di Polonia", "feature_search", "100", 2),
            Asked("Rumah di Citraland", "project_search", "11", 5),
        ),
        "4142425242",
        "Proyek baru ikut disebut.",
    ),
    Person(
        "Bambu",
        (
            Asked("Rumah 2 lantai di Helvetia", "location_price_spec", "1?1", 4),
            Asked("Rumah dijual di Setia Budi di bawah 600 juta", "location_price", "0", 1),
        ),
        "2434343433",
        "",
        "Saya harus mengulang lokasi di setiap pertanyaan.",
        "Percakapan",
    ),
    Person(
        "Camar",
        (
            Asked("rumah disewa di Amplas", "location_simple", "110", 4),
            Asked("yang di bawah 40 juta", "context_modify", "1", 5),
        ),
        "5151515151",
        "Mengerti pertanyaan lanjutan.",
    ),
    Person(
        "Rotan",
        (
            Asked("Kost dekat Unimed", "nearby_search", "0", 1, "Bukan kost.", "Jenis tidak ada"),
            Asked("Rumah dijual di Menteng harga 700 jutaan", "location_price", "1100", 3),
        ),
        "3333424333",
        "Bahasanya sopan.",
        "Kost dan kontrakan bulanan.",
        "Jenis properti",
    ),
)


def rows() -> Iterator[dict[str, object]]:
    """Yield each participant with the answers to what they ask, as they were recorded."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    for person, answered in zip(PEOPLE, recorded, strict=True):
        yield {
            "pseudonym": person.pseudonym,
            "usability": person.usability,
            "helped": person.helped,
            "missing": person.missing,
            "theme": person.theme,
            "asked": [
                _row(asked, answer, 2400 + 310 * n)
                for n, (asked, answer) in enumerate(
                    zip(person.asked, answered["asked"], strict=True)
                )
            ],
        }


def _row(asked: Asked, recorded: Mapping[str, object], latency_ms: int) -> dict[str, object]:
    return {
        "text": asked.text,
        "category": asked.category,
        "verdicts": asked.verdicts,
        "quality": asked.quality,
        "note": asked.note,
        "theme": asked.theme,
        **{name: recorded[name] for name in ("response", "metadata", "properties")},
        "latency_ms": latency_ms,
    }
