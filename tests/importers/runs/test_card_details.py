"""Detail lines of a card, each fact with any part missing."""

from __future__ import annotations

import pytest

from tests.importers.runs.cards import detail, only
from webapp.importers.runs.property_cards import read_details


@pytest.mark.parametrize(
    ("written", "note", "period"),
    [
        ("Rp 50 jt", None, None),
        ("Rp 50 jt (sale)", "sale", None),
        ("Rp 50 jt (jual)", "sale", None),
        ("Rp 50 jt (rent)", "rent", None),
        ("Rp 50 jt (sewa)", "rent", None),
        ("Disewakan Rp 50 jt", "rent", None),
        ("Rp 50 jt per tahun", "rent", "year"),
        ("Rp 50 jt/tahun", "rent", "year"),
        ("Rp 5 jt / bulan", "rent", "month"),
        ("Rp 0 (sale)", "sale", None),
        ("Rp 50 jt (jual/sewa)", None, None),
    ],
)
def test_a_price_says_sale_or_rent_and_the_listing_follows(
    written: str, note: str | None, period: str | None
) -> None:
    card = detail(f"- 💰 {written}")

    assert (card.price_note, card.price_period, card.listing_type) == (note, period, note)


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("4 Kamar Tidur, 3 Kamar Mandi, LT 105.0m², LB 150m²", (4, 3, 105.0, 150.0, None)),
        ("3 KT, 2 KM, LT 1.250 m2, LB 1,250.5 m²", (3, 2, 1250.0, 1250.5, None)),
        ("KT: 3 | KM: 2 | LT: 90 | LB: 60", (3, 2, 90.0, 60.0, None)),
        ("KT 3, KM 2", (3, 2, None, None, None)),
        ("3KT 2KM LT90m² LB60m²", (3, 2, 90.0, 60.0, None)),
        ("3+1 KT, 2+1 KM", (3, 2, None, None, None)),
        ("2-3 Kamar Tidur", (None, None, None, None, None)),
        ("LT 84m²", (None, None, 84.0, None, None)),
        ("LT/LB: 100/150 m²", (None, None, 100.0, 150.0, None)),
        ("Luas Tanah: 105,5 m², Luas Bangunan: 99 m²", (None, None, 105.5, 99.0, None)),
        ("3 Kamar Mandi", (None, 3, None, None, None)),
        ("4 Kamar Tidur, 3 Lantai", (4, None, None, None, 3)),
        ("LT 10x20 m", (None, None, None, None, None)),
        ("LT 2 ha, LB 0m²", (None, None, None, None, None)),
        ("(Detail ukuran tidak tersedia)", (None, None, None, None, None)),
        ("", (None, None, None, None, None)),
    ],
)
@pytest.mark.parametrize("marker", ["🏠", "🏠\ufe0f"])
def test_rooms_and_areas_are_read_with_any_part_missing(
    written: str, facts: tuple[float | None, ...], marker: str
) -> None:
    card = detail(f"   - {marker} {written}")
    read = (card.bedrooms, card.bathrooms, card.land_area, card.building_area, card.floors)

    assert read == facts


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("🔄 Resale", "source", "listing"),
        ("🔄 Proyek Baru", "source", "project"),
        ("🏗️ New", "source", "project"),
        ("🏗 New", "source", "project"),
        ("🏷️ Disewakan", "listing_type", "rent"),
        ("📍 Jl. A, Kec. B", "location", "Jl. A, Kec. B"),
        ("📍 **Lokasi:** Jl. A", "location", "Jl. A"),
        ("📍 Lokasi tidak tersedia", "location", None),
        ("📍 Jl. Damai (belum ada nomor rumah)", "location", "Jl. Damai (belum ada nomor rumah)"),
        ("📜 SHM", "certificate", "SHM"),
        ("📄 Sertifikat: HGB", "certificate", "HGB"),
        ("Sertifikat: Hak Milik", "certificate", "Hak Milik"),
        ("📄 Deskripsi: rumah nyaman", "certificate", None),
        ("🏠 3 KT, SHM", "certificate", "SHM"),
        ("🔗 [Lihat Detail](https://x.example/properti/a)", "slug", "a"),
        ("🔗 https://x.example/proyek/b?x=1.", "slug", "b"),
        ("[Lihat Detail](https://x.example/proyek/b)", "source", "project"),
        ("[Lihat Detail](https://x.example/properti/b)", "source", "listing"),
        ("Hubungi [agen](https://wa.me/62812)", "url", None),
        ("**Catatan:** uang muka Rp 50 jt", "price", None),
        ("Harga: Rp 50 jt", "price", 50_000_000),
        ("3 KT, 2 KM", "bedrooms", 3),
    ],
)
@pytest.mark.parametrize("before", ["", "   ", "- ", "   - ", "\t* ", "    1. "])
def test_a_detail_line_is_read_with_or_without_bullet_and_indent(
    line: str, field: str, value: object, before: str
) -> None:
    assert getattr(detail(before + line), field) == value


def test_several_markers_on_one_line_are_read_apart() -> None:
    card = detail("📍 Jl. A | 💰 Rp 800 jt | 🏠 3 KT")

    assert (card.location, card.price, card.bedrooms) == ("Jl. A", 800_000_000, 3)


def test_what_is_said_first_stands() -> None:
    assert detail("💰 Rp 800 jt\n💰 Rp 50 jt per bulan cicilan").price == 800_000_000


def test_a_listing_type_is_never_guessed_from_the_title() -> None:
    assert detail("📍 Medan").listing_type is None
    assert only("1. **Disewakan Rumah Dijual**\n💰 Rp 50 jt").listing_type is None


def test_areas_that_are_dashes_leave_the_other_facts() -> None:
    assert read_details("🏠 4 Kamar Tidur, LT -, LB 150m²") == {
        "bedrooms": 4,
        "building_area": 150.0,
    }
