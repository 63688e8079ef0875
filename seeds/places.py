"""The parts of Medan in which the invented listings lie, and what each has many of."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from dataclasses import dataclass, field

Mix = dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place people say they live near; ``kind`` is the Indonesian word they use."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Area:
    """A part of town as sellers call it.

    ``land_price`` is million rupiah per square metre; ``extra`` adds to the ordinary mix
    of (property type, listing type) counts, or is the whole mix of a ``closed`` complex.
    """

    name: str
    district: str
    villages: tuple[str, ...]
    streets: tuple[str, ...]
    centre: tuple[float, float]
    land_price: float
    complexes: tuple[str, ...]
    landmarks: tuple[Landmark, ...]
    extra: Mix = field(default_factory=dict)
    closed: bool = False


ORDINARY_MIX: Mix = {
    ("house", "sale"): 8,
    ("house", "rent"): 3,
    ("shophouse", "sale"): 1,
    ("shophouse", "rent"): 2,
    ("land", "sale"): 1,
}

_SUN = Landmark("Sun Plaza", "mall")
_CENTRE_POINT = Landmark("Centre Point Mall", "mall")
_FAIR = Landmark("Plaza Medan Fair", "mall")
_MARKET = Landmark("Deli Park Mall", "mall")
_WALK = Landmark("Ringroad City Walks", "mall")
_USU = Landmark("Universitas Sumatera Utara (USU)", "kampus")
_UNIMED = Landmark("Universitas Negeri Medan", "kampus")
_KIM = Landmark("Kawasan Industri Medan (KIM)", "kawasan industri")
_PODOMORO = Landmark("Podomoro City Deli Medan", "apartemen")
_CEMARA = Landmark("Gerbang Cemara Asri", "gerbang komplek")


def _school(name: str) -> Landmark:
    return Landmark(name, "sekolah")


AREAS = (
    Area(
        "Cemara",
        "Medan Timur",
        ("Pulo Brayan Darat II", "Pulo Brayan Bengkel Baru"),
        ("Cemara", "Perwakilan I", "Sidorukun", "Perdata III", "Pelita VI"),
        (3.6286, 98.6905),
        6.5,
        ("Cemara Kencana", "Grafika Permai"),
        (_CEMARA, _school("SD Tunas Cemara"), Landmark("RS Cemara Husada", "rumah sakit")),
    ),
    Area(
        "Ringroad",
        "Medan Sunggal",
        ("Sunggal", "Tanjung Rejo", "Asam Kumbang"),
        ("Ring Road Gagak Hitam", "Setia Budi", "Pasar I Tapian Nauli", "Perjuangan"),
        (3.5785, 98.6240),
        6.0,
        ("Setia Budi Lestari", "Tapian Residence", "Gagak Hitam Regency"),
        (_WALK, _school("SMA Setia Budi"), Landmark("Pasar Ringroad", "pasar")),
        {("house", "sale"): 22},
    ),
    Area(
        "Marelan",
        "Medan Marelan",
        ("Rengas Pulau", "Tanah Enam Ratus", "Terjun"),
        ("Marelan Raya", "Pasar IV Barat", "Kapten Rahmad Buddin", "Young Panah Hijau"),
        (3.6920, 98.6580),
        1.9,
        ("Griya Marelan Asri", "Marelan Permata"),
        (_school("SMP Marelan Raya"), Landmark("Danau Siombak", "taman")),
        {("land", "sale"): 7},
    ),
    Area(
        "Krakatau",
        "Medan Timur",
        ("Glugur Darat I", "Glugur Darat II", "Pulo Brayan Darat I"),
        ("Krakatau", "Bukit Barisan I", "Pinus Raya", "Setia Jadi"),
        (3.6150, 98.6850),
        7.0,
        ("Krakatau Palace", "Setiajadi Garden"),
        (_CEMARA, _school("SMA Krakatau Jaya"), Landmark("Pasar Glugur", "pasar")),
        {("shophouse", "rent"): 4},
    ),
    Area(
        "Podomoro",
        "Medan Barat",
        ("Kesawan", "Silalas"),
        ("Putri Hijau", "Guru Patimpus", "Gereja", "Karya Mas"),
        (3.5945, 98.6735),
        9.0,
        ("Podomoro City Deli Medan",),
        (_PODOMORO, _MARKET, _CENTRE_POINT, _school("SD Putri Hijau")),
        {("apartment", "sale"): 10, ("apartment", "rent"): 2, ("house", "sale"): -3},
    ),
    Area(
        "Padang Bulan",
        "Medan Baru",
        ("Padang Bulan", "Titi Rantai", "Merdeka"),
        ("Jamin Ginting", "Dr. Mansyur", "Berdikari", "Sei Batang Hari"),
        (3.5640, 98.6560),
        7.5,
        ("Garden Titi Rantai", "Mansyur Residence"),
        (_USU, _WALK, _school("SMA Padang Bulan")),
        {("house", "rent"): 5, ("house", "sale"): -2},
    ),
    Area(
        "Helvetia",
        "Medan Helvetia",
        ("Helvetia Timur", "Helvetia Tengah", "Dwi Kora"),
        ("Kapten Muslim", "Persatuan", "Beringin Raya", "Pemasyarakatan"),
        (3.6060, 98.6370),
        4.8,
        ("Casa Helvetia", "Beringin Indah"),
        (_WALK, _school("SMP Helvetia Mandiri"), Landmark("RS Helvetia", "rumah sakit")),
        {("warehouse", "sale"): 2, ("warehouse", "rent"): 1},
    ),
    Area(
        "Johor",
        "Medan Johor",
        ("Gedung Johor", "Pangkalan Masyhur", "Kwala Bekala"),
        ("Karya Wisata", "Eka Surya", "Luku I", "Karya Jaya"),
        (3.5310, 98.6690),
        4.5,
        ("Johor Indah Permai", "Wisata Garden"),
        (_school("SMA Karya Wisata"), Landmark("Asrama Haji", "gedung")),
    ),
    Area(
        "Pancing",
        "Percut Sei Tuan",
        ("Medan Estate", "Kenangan Baru"),
        ("Willem Iskandar", "Kapten M. Jamil Lubis", "Pancing Raya"),
        (3.6080, 98.7130),
        4.6,
        ("Pancing Ville", "Estate Residence"),
        (_UNIMED, _CEMARA, _school("SMA Pancing Bakti")),
        {("house", "sale"): -1},
    ),
    Area(
        "Simpang Pemda",
        "Medan Tuntungan",
        ("Simpang Selayang", "Tanjung Selamat", "Mangga"),
        ("Bunga Rinte", "Flamboyan Raya", "Setia Budi Ujung", "Jamin Ginting KM 11"),
        (3.5200, 98.6200),
        3.4,
        ("Taman Tasbi Selaras", "Bunga Rinte Estate"),
        (_school("SMA Simpang Selayang"), Landmark("RSUP Adam Malik", "rumah sakit")),
        {("house", "sale"): 3},
    ),
    Area(
        "Petisah",
        "Medan Petisah",
        ("Sei Putih Timur II", "Petisah Tengah", "Sekip"),
        ("Sekip", "Pasundan", "Gatot Subroto", "Mojopahit"),
        (3.5920, 98.6640),
        9.5,
        ("Petisah Town House",),
        (_FAIR, _CENTRE_POINT, _PODOMORO, _school("SMA Petisah Harapan")),
        {("house", "sale"): 1},
    ),
    Area(
        "Medan Kota",
        "Medan Kota",
        ("Pasar Baru", "Teladan Barat", "Sudirejo I"),
        ("Selat Panjang", "Sisingamangaraja", "Gedung Arca", "Bahagia"),
        (3.5690, 98.6950),
        8.5,
        ("Teladan Mansion",),
        (_CENTRE_POINT, _school("SMP Teladan"), Landmark("Stadion Teladan", "stadion")),
    ),
    Area(
        "Polonia",
        "Medan Maimun",
        ("Hamdan", "Sukaraja", "Aur"),
        ("Palang Merah", "Multatuli", "Samanhudi", "Juanda Baru"),
        (3.5790, 98.6780),
        11.0,
        ("Multatuli Mas",),
        (_SUN, _CENTRE_POINT, _school("SMA Maimun Jaya")),
    ),
    Area(
        "Amplas",
        "Medan Amplas",
        ("Harjosari I", "Harjosari II", "Timbang Deli"),
        ("Panglima Denai", "Garu II", "Pertahanan", "Sisingamangaraja KM 8"),
        (3.5410, 98.7130),
        3.2,
        ("Villa Gading Selaras", "Garu Permai"),
        (_school("SMA Harjosari"), Landmark("Terminal Amplas", "terminal")),
        {("warehouse", "sale"): 3, ("warehouse", "rent"): 2, ("house", "sale"): -1},
    ),
    # The catalogue holds no warehouse here: question 12 has truly nothing to find.
    Area(
        "Mabar",
        "Medan Deli",
        ("Mabar", "Mabar Hilir", "Tanjung Mulia"),
        ("Rumah Potong Hewan", "Pulau Batam", "Alfaka Raya", "Yos Sudarso KM 10"),
        (3.6690, 98.6830),
        2.2,
        ("Mabar Indah",),
        (_KIM, _school("SMP Mabar Hilir")),
        {("house", "sale"): -3, ("house", "rent"): -1},
    ),
    Area(
        "Menteng",
        "Medan Denai",
        ("Binjai", "Medan Tenggara", "Tegal Sari Mandala II"),
        ("Menteng Raya", "Rawa", "Tangguk Bongkar", "Menteng VII"),
        (3.5690, 98.7180),
        4.0,
        ("Menteng Indah Residence", "Mandala Town House"),
        (_school("SMA Menteng Raya"), Landmark("Pasar Sukaramai", "pasar")),
        {("house", "sale"): -1},
    ),
    Area(
        "Citraland Bagya City",
        "Percut Sei Tuan",
        ("Kenangan Baru",),
        ("Boulevard Barat Raya", "Ismail Harun"),
        (3.6035, 98.7245),
        9.0,
        ("Citraland Bagya City",),
        (_UNIMED, _school("Sekolah Citra Bagya")),
        {("house", "sale"): 9, ("house", "rent"): 1, ("shophouse", "rent"): 1},
        closed=True,
    ),
    Area(
        "Givency One",
        "Medan Helvetia",
        ("Tanjung Gusta",),
        ("Gaperta Ujung", "Gaperta"),
        (3.6135, 98.6205),
        8.0,
        ("Givency One",),
        (_school("SD Gaperta"), Landmark("Kodam Gaperta", "gedung")),
        {("house", "sale"): 8, ("house", "rent"): 1},
        closed=True,
    ),
)
