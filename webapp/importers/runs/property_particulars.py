"""Details that a file states of a property beyond the fields of its card, shown under it.

Only keys that are known to describe a property are taken: a chatbot may list values beside
them that reveal how it searched (a score, a rank, a method), which a blind rater must not see.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping

import nh3

from webapp.importers.runs.prices import exact_number
from webapp.records import Particulars

LONGEST_TEXT = 5000
"""Characters of a description that pages show; the file that is kept has all of it."""

DESCRIPTIONS = ("description", "deskripsi", "additional_info", "keterangan")
FEATURES = ("facilities", "fasilitas", "amenities", "features", "fitur")
SPECIFICATIONS = ("specifications", "specification", "specs", "spesifikasi")
LATITUDES = ("latitude", "lat")
LONGITUDES = ("longitude", "lng", "lon", "long")

FACTS: Mapping[str, str] = {
    **dict.fromkeys(("address", "alamat", "full_address"), "address"),
    **dict.fromkeys(("property_type", "tipe_properti", "jenis_properti"), "property_type"),
    **dict.fromkeys(("district", "kecamatan"), "district"),
    **dict.fromkeys(("city", "kota"), "city"),
    **dict.fromkeys(("project_name", "nama_proyek", "cluster", "complex", "komplek"), "project"),
    **dict.fromkeys(("developer", "pengembang"), "developer"),
    **dict.fromkeys(("condition", "kondisi"), "condition"),
    **dict.fromkeys(("furnished", "furnishing", "furniture", "perabotan"), "furnishing"),
    **dict.fromkeys(("garage", "garages", "garasi"), "garage"),
    **dict.fromkeys(("carport", "carports"), "carport"),
    **dict.fromkeys(("parking", "parkir"), "parking"),
    **dict.fromkeys(("electricity", "power", "listrik", "daya_listrik"), "electricity"),
    **dict.fromkeys(("water", "water_source", "air", "sumber_air"), "water"),
    **dict.fromkeys(("orientation", "facing", "hadap"), "facing"),
    **dict.fromkeys(("year_built", "built_year", "tahun_dibangun"), "year_built"),
    **dict.fromkeys(("maid_bedrooms", "maid_rooms", "kamar_pembantu"), "maid_bedrooms"),
    **dict.fromkeys(("road_width", "lebar_jalan"), "road_width"),
    **dict.fromkeys(("nearby", "nearby_places", "landmarks", "dekat"), "nearby"),
}
"""The name of a fact by its key in the file."""

_MOST_FACTS, _LONGEST_FACT = 40, 500
_MOST_FEATURES, _LONGEST_FEATURE = 80, 120
_BREAK = re.compile(r"<(?:br|/p|/li|/div)[ /]{0,3}>", re.IGNORECASE)
_NAMES = ("name", "nama", "title", "label", "key", "value")
_DISTANCES = (("distance_m", " m"), ("distance_km", " km"), ("distance", ""), ("jarak", ""))


def read(raw: object) -> Particulars:
    """The particulars of a property in the object `raw`; unreadable values are left out."""
    if not isinstance(raw, Mapping):
        return Particulars()
    said = {str(key).casefold(): value for key, value in raw.items()}
    latitude = _coordinate(said, LATITUDES, 90)
    longitude = _coordinate(said, LONGITUDES, 180)
    has_point = latitude is not None and longitude is not None
    return Particulars(
        description=_description(said),
        features=tuple(dict.fromkeys(_features(said)))[:_MOST_FEATURES],
        facts=tuple(dict(_facts(said)).items())[:_MOST_FACTS],
        latitude=latitude if has_point else None,
        longitude=longitude if has_point else None,
    )


def longest_description(listed: Iterable[object]) -> int:
    """The characters of the longest description among the objects of ``properties``."""
    found = [0]
    for raw in listed:
        for one in (raw, raw.get("api_data")) if isinstance(raw, Mapping) else ():
            texts = (one.get(key) for key in DESCRIPTIONS) if isinstance(one, Mapping) else ()
            found += [len(text) for text in texts if isinstance(text, str)]
    return max(found)


def _description(said: Mapping[str, object]) -> str:
    texts = (_prose(said.get(key)) for key in DESCRIPTIONS)
    return "\n\n".join(dict.fromkeys(filter(None, texts)))[:LONGEST_TEXT]


def _prose(value: object) -> str:
    """A text in paragraphs, without the tags of a page it was taken from."""
    if not isinstance(value, str):
        return ""
    text = value[:LONGEST_TEXT]
    if "<" in text and ">" in text:
        text = html.unescape(nh3.clean(_BREAK.sub("\n", text), tags=set()))
    lines = (" ".join(line.split()) for line in text.replace("\r\n", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _features(said: Mapping[str, object]) -> Iterator[str]:
    for key in FEATURES:
        value = said.get(key)
        if isinstance(value, str):
            yield from filter(None, (_cut(one, _LONGEST_FEATURE) for one in value.split(",")))
        else:
            yield from (one[:_LONGEST_FEATURE] for one in _words(value))


def _facts(said: Mapping[str, object]) -> Iterator[tuple[str, str | bool]]:
    for key, name in FACTS.items():
        value = _value(said.get(key))
        if value is not None:
            yield name, value
    for key in SPECIFICATIONS:
        listed = said.get(key)
        if isinstance(listed, Mapping):
            for inner, one in listed.items():
                name = str(inner)
                if (stated := _value(one)) is not None:
                    yield FACTS.get(name.casefold()) or _cut(name.replace("_", " "), 60), stated
        elif (stated := _value(listed)) is not None:
            yield "specifications", stated


def _value(value: object) -> str | bool | None:
    """A scalar as it is written, a list as one line; ``None`` for nothing and for 0."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return ", ".join(_words(value))[:_LONGEST_FACT] or None
    if value in (None, "", 0) or not isinstance(value, int | float | str):
        return None
    return _cut(str(value), _LONGEST_FACT) or None


def _words(value: object) -> Iterator[str]:
    """The items of a list in words: texts, numbers, and objects that have a name."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), "")
            away = (f"{item[key]}{unit}" for key, unit in _DISTANCES if _is_scalar(item.get(key)))
            far = next(away, "")
            text = _cut(f"{name} ({far})" if far else name, _LONGEST_FACT)
        else:
            text = _cut(str(item), _LONGEST_FACT) if _is_scalar(item) else ""
        if text:
            yield text


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _cut(text: str, longest: int) -> str:
    return " ".join(text[: longest * 2].split())[:longest]


def _coordinate(said: Mapping[str, object], keys: Iterable[str], largest: int) -> float | None:
    """A coordinate that can be one; 0 is absent."""
    for key in keys:
        value = said.get(key)
        if _is_scalar(value):
            number = exact_number(value if isinstance(value, str) else repr(value))
            if number and abs(number) <= largest:
                return float(number)
    return None
