"""The 30 questions of the methodology, with their categories, in the order they are asked."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the set; a context-dependent one refers to the turns before it."""

    id: int
    text: str
    category: str

    @property
    def context_dependent(self) -> bool:
        """Whether the question means nothing without the earlier turns of its session."""
        return self.category.startswith("context_")


_ASKED = (
    ("location_simple", "Carikan rumah dijual di daerah cemara"),
    ("location_simple", "Carikan rumah dijual di daerah ringroad"),
    ("location_simple", "Carikan rumah sewa di medan"),
    ("location_price", "Carikan rumah dijual di daerah cemara harga 1M an"),
    (
        "location_price_spec",
        "Carikan rumah dijual daerah ringroad harga dibawah 800juta 3 kamar",
    ),
    ("location_price_spec", "apakah ada rumah sewa di medan yang dibawah 50juta 3 kamar?"),
    (
        "location_price",
        "Saya ingin beli rumah di dekat podomoro medan harga dibawah 1M ada?",
    ),
    (
        "location_intent",
        "Client saya lagi cari sewa dekat usu, anaknya mau kuliah disana",
    ),
    ("location_price", "Carikan rumah di inti kota medan yang harganya dibawah 1M"),
    ("property_type", "apakah ada ruko yang disewakan di daerah krakatau?"),
    ("property_type", "saya lagi cari tanah yang dijual di marelan"),
    ("property_type", "apakah ada gudang yang dijual atau disewa di KIM?"),
    ("location_price_spec", "Carikan rumah dijual daerah ringroad harga 1M an 3 kamar"),
    ("context_followup", "Apakah masih ada pilihan lain?"),
    ("context_followup", "Berikan lagi pilihan lain"),
    (
        "context_modify",
        "kasih pilihan lain, lokasi dan harga masih sama, tapi yang 3 lantai?",
    ),
    ("context_followup", "Berikan lagi pilihan lain"),
    (
        "context_modify",
        "Kalau pilihan lain, lokasi dan jumlah lantai masih sama, tapi yang dibawah 800 juta ada?",
    ),
    ("feature_search", "carikan rumah dengan fasilitas cctv di medan"),
    ("feature_search", "carikan rumah dengan fasilitas wifi di medan"),
    ("feature_search", "cari rumah dalam komplek dengan fasilitas lapangan basket"),
    ("feature_search", "cari rumah yang bisa parkir beberapa mobil"),
    ("feature_search", "cari rumah yang sudah ada ac, lemari, dapur dan tangki air"),
    ("nearby_search", "cari rumah dekat mall"),
    ("nearby_search", "cari rumah dekat sekolah di medan"),
    ("nearby_price", "cari rumah dekat mall yang harganya dibawah 800 juta"),
    (
        "complex_query",
        (
            "cari rumah full furnished yang harganya dibawah 1 M dalam komplek "
            "dengan fasilitas lapangan basket"
        ),
    ),
    ("complex_query", "cari apartment di podomoro yang bisa harganya dibawah 1.5 M"),
    ("project_search", "cari rumah di citraland bagya city medan"),
    ("project_search", "cari rumah dijual di komplek givency one"),
)

QUESTIONS = tuple(
    Question(position, text, category) for position, (category, text) in enumerate(_ASKED, start=1)
)
