"""The facilities, titles and projects that the invented listings are put together from."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

COMPLEX_FACILITIES = {
    "Taman Tasbi Selaras": ("Lapangan Basket", "Kolam Renang", "Security 24 Jam"),
    "Villa Gading Selaras": ("Lapangan Basket", "Security 24 Jam"),
    "Menteng Indah Residence": ("Lapangan Basket", "Taman Bermain"),
    "Citraland Bagya City": ("Clubhouse", "Kolam Renang", "Security 24 Jam"),
    "Givency One": ("Kolam Renang", "Gym", "Security 24 Jam"),
    "Podomoro City Deli Medan": ("Kolam Renang", "Gym", "Access Card"),
}

HOUSE_FACILITIES = (
    "AC",
    "CCTV",
    "WiFi",
    "Lemari",
    "Dapur",
    "Tangki Air",
    "Water Heater",
    "Taman",
    "Carport 1 Mobil",
    "Carport 2 Mobil",
    "Garasi 3 Mobil",
    "Kanopi",
)

FURNISHING = ("Full Furnished", "Semi Furnished", "Unfurnished")

TITLES = {
    ("house", "sale"): (
        "Dijual Rumah",
        "Dijual Rumah",
        "Dijual Rumah Dalam Komplek",
        "Dijual Rumah Daerah {area}",
        "Dijual Rumah {furnished} Daerah {area}",
        "Rumah Siap Huni Daerah {area}",
        "Jual Cepat Rumah {floors} Lantai {area}",
        "Dijual Rumah [Hook] Daerah {area}",
        "Rumah Minimalis Dekat {landmark}",
        "Dijual Rumah Komplek {complex}",
        "Villa Cantik {complex}",
    ),
    ("house", "rent"): (
        "Disewakan Rumah",
        "Disewakan Rumah Daerah {area}",
        "Sewa Rumah {complex}",
        "Disewakan Rumah {furnished} Dekat {landmark}",
    ),
    ("shophouse", "sale"): ("Dijual Ruko Daerah {area}", "Ruko {floors} Lantai Pinggir Jalan"),
    ("shophouse", "rent"): (
        "Disewakan Ruko",
        "Disewakan Ruko Daerah {area}",
        "Disewakan {count} Ruko Gandeng {area}",
    ),
    ("land", "sale"): ("Dijual Tanah {area}", "Dijual Tanah Kosong", "Tanah Kavling {area}"),
    ("warehouse", "sale"): ("Dijual Gudang {area}", "Gudang Siap Pakai {area}"),
    ("warehouse", "rent"): ("Disewakan Gudang {area}",),
    ("apartment", "sale"): (
        "Dijual Apartemen Podomoro {bedrooms} Kamar",
        "Jual Murah Apartment Podomoro {furnished}",
        "Dijual Apartment Podomoro",
    ),
    ("apartment", "rent"): ("Disewakan Apartemen Podomoro {bedrooms} Kamar",),
}

# Name, area, price from and to (million rupiah), bedrooms, land, building.
PROJECTS = (
    ("Citraland Bagya City Cluster Maple Walk", "Citraland Bagya City", 1350, 2100, 3, 90, 110),
    ("Citraland Bagya City Cluster Orchard", "Citraland Bagya City", 1850, 3200, 4, 120, 160),
    ("Givency One Tahap Akhir", "Givency One", 1150, 2400, 3, 84, 120),
    ("Tapian Residence Ringroad", "Ringroad", 690, 980, 3, 72, 80),
    ("Wisata Garden Johor", "Johor", 480, 720, 2, 78, 56),
    ("Podomoro City Deli Tower Amber", "Podomoro", 950, 1900, 2, None, 52),
)
