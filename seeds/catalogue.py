"""The invented catalogue: believable Medan listings drawn from one seeded stream of chance."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

import random
import re
from collections import Counter

from catalogue_words import (
    COMPLEX_FACILITIES,
    FURNISHING,
    HOUSE_FACILITIES,
    PROJECTS,
    TITLES,
)
from listings import MILLION, DemoListing, Nearby
from msgspec import Struct
from msgspec.structs import replace
from places import AREAS, ORDINARY_MIX, Area, Landmark

SEED = 20260126
SITE = "https://listing.example"
CERTIFICATES = ("SHM", "SHM", "SHM", "HGB", "SK Camat")


class _Plan(Struct, frozen=True):
    """What a listing is before it has a price and a name."""

    bedrooms: int | None
    bathrooms: int | None
    floors: int | None
    land: int | None
    building: int | None
    complex: str | None = None
    facilities: tuple[str, ...] = ()


def make_catalogue() -> tuple[DemoListing, ...]:
    """All listings in id order: the ordinary ones area by area, then the projects."""
    chance = random.Random(SEED)  # noqa: S311 (invention, not secrecy)
    wanted = [
        (area, kind) for area in AREAS for kind, count in _mix(area).items() for _ in range(count)
    ]
    listings = [
        _listing(chance, 4100 + position, area, *kind)
        for position, (area, kind) in enumerate(wanted)
    ]
    projects = [
        _project(chance, 9000 + position, project) for position, project in enumerate(PROJECTS)
    ]
    return tuple([_with_gap(listing) for listing in listings] + projects)


def _mix(area: Area) -> Counter[tuple[str, str]]:
    mix = Counter[tuple[str, str]]() if area.closed else Counter(ORDINARY_MIX)
    mix.update(area.extra)
    return mix


def _listing(
    chance: random.Random, listing_id: int, area: Area, property_type: str, listing_type: str
) -> DemoListing:
    plan = _plan(chance, area, property_type)
    price = _price(chance, area, property_type, listing_type, plan)
    title = _title(chance, area, (property_type, listing_type), plan)
    uuid = _uuid(chance)
    village = chance.choice(area.villages)
    latitude, longitude = _position(chance, area)
    slug = f"{slugify(title)}-{uuid[:8]}"
    return DemoListing(
        id=listing_id,
        slug=slug,
        title=title,
        url=f"{SITE}/properti/{slug}",
        property_type=property_type,
        listing_type=listing_type,
        price=price,
        price_max=None,
        price_period="year" if listing_type == "rent" else None,
        indexed_price=_stale(chance, price),
        location=_location(chance, area, plan.complex, village),
        area=area.name,
        district=area.district,
        latitude=latitude,
        longitude=longitude,
        bedrooms=plan.bedrooms,
        bathrooms=plan.bathrooms,
        floors=plan.floors,
        land_area=plan.land,
        building_area=plan.building,
        certificate=chance.choice(CERTIFICATES[:4] if plan.complex else CERTIFICATES),
        facilities=plan.facilities,
        complex=plan.complex,
        nearby=_nearby(chance, area),
        source="listing",
    )


def _project(
    chance: random.Random,
    listing_id: int,
    project: tuple[str, str, int, int, int, int | None, int],
) -> DemoListing:
    """A developer's project page: a range of prices, the sizes of its smallest type."""
    title, area_name, low, high, bedrooms, land, building = project
    area = next(area for area in AREAS if area.name == area_name)
    kind = "house" if land else "apartment"
    base = _listing(chance, listing_id, area, kind, "sale")
    slug = f"{slugify(title)}-{base.slug[-8:]}"
    return replace(
        base,
        title=title,
        slug=slug,
        url=f"{SITE}/proyek/{slug}",
        price=low * MILLION,
        price_max=high * MILLION,
        indexed_price=low * MILLION,
        bedrooms=bedrooms,
        bathrooms=bedrooms - 1,
        floors=2 if land else None,
        land_area=land,
        building_area=building,
        certificate="HGB",
        source="project",
    )


def _plan(chance: random.Random, area: Area, property_type: str) -> _Plan:
    complex_name = _complex(chance, area, property_type)
    facilities = _facilities(chance, property_type, complex_name)
    return replace(_sizes(chance, property_type), complex=complex_name, facilities=facilities)


def _sizes(chance: random.Random, property_type: str) -> _Plan:
    if property_type == "land":
        return _Plan(None, None, None, chance.randrange(100, 900, 20), None)
    if property_type == "warehouse":
        land = chance.randrange(400, 2400, 50)
        return _Plan(None, 2, 1, land, land * 7 // 10)
    if property_type == "shophouse":
        floors = chance.choice((2, 3, 3, 4))
        land = chance.choice((60, 64, 72, 80, 90))
        return _Plan(None, floors, floors, land, land * floors * 9 // 10)
    if property_type == "apartment":
        bedrooms = chance.choice((1, 2, 2, 3))
        return _Plan(bedrooms, max(1, bedrooms - 1), None, None, 20 + 18 * bedrooms)
    bedrooms = chance.choice((2, 2, 3, 3, 3, 3, 4, 4, 5))
    floors = chance.choice((1, 1, 2, 2, 2, 3))
    land = chance.choice((60, 72, 84, 96, 105, 120, 135, 150, 200, 240)) + 8 * (bedrooms - 3)
    building = int(land * (0.65 + 0.3 * floors))
    return _Plan(bedrooms, max(1, bedrooms - chance.choice((0, 1, 1))), floors, land, building)


def _price(
    chance: random.Random, area: Area, property_type: str, listing_type: str, plan: _Plan
) -> int:
    """Rupiah: land and building at the area's rates; a year's rent is about 4.5 % of that."""
    land, building = plan.land or 0, plan.building or 0
    ground = {"shophouse": 1.5, "warehouse": 0.6}.get(property_type, 0.8) * area.land_price
    walls = {"apartment": 21.0, "warehouse": 1.8, "shophouse": 3.5}.get(property_type, 2.6)
    value = (land * ground + building * walls) * (0.8 + 0.45 * chance.random())
    if listing_type == "rent":
        return max(12, round(value * 0.045)) * MILLION
    return max(90, 5 * round(value / 5)) * MILLION


def _stale(chance: random.Random, price: int) -> int:
    """The price when the semantic index was built: one listing in five has moved since."""
    if chance.random() < 0.8:
        return price
    return round(price * chance.choice((0.9, 1.05, 1.1)) / MILLION) * MILLION


def _complex(chance: random.Random, area: Area, property_type: str) -> str | None:
    if area.closed or property_type == "apartment":
        return area.complexes[0]
    if property_type != "house" or chance.random() < 0.5:
        return None
    return chance.choice(area.complexes)


def _facilities(
    chance: random.Random, property_type: str, complex_name: str | None
) -> tuple[str, ...]:
    shared = COMPLEX_FACILITIES.get(complex_name or "", ())
    if property_type not in {"house", "apartment"}:
        return ("Listrik 3 Phase", "PDAM")[: chance.randrange(3)]
    own = chance.sample(HOUSE_FACILITIES, chance.randrange(1, 6))
    return (chance.choice(FURNISHING), *own, *shared)


def _nearby(chance: random.Random, area: Area) -> tuple[Nearby, ...]:
    chosen = chance.sample(area.landmarks, chance.randrange(1, len(area.landmarks) + 1))
    near = [Nearby(mark.name, mark.kind, _distance(chance, mark)) for mark in chosen]
    return tuple(sorted(near, key=lambda place: (place.distance_m, place.name)))


def _distance(chance: random.Random, landmark: Landmark) -> int:
    return chance.randrange(100, 1500 if landmark.kind == "sekolah" else 2400, 10)


def _title(chance: random.Random, area: Area, kind: tuple[str, str], plan: _Plan) -> str:
    # A pattern that names the complex suits only what stands in one.
    patterns = [title for title in TITLES[kind] if plan.complex or "omple" not in title]
    return chance.choice(patterns).format(
        area=area.name,
        complex=plan.complex,
        furnished=next((word for word in plan.facilities if word in FURNISHING[:2]), "Kosong"),
        floors=plan.floors,
        bedrooms=plan.bedrooms,
        count=chance.choice((2, 3, 4)),
        landmark=area.landmarks[0].name.split(" (")[0],
    )


def _location(chance: random.Random, area: Area, complex_name: str | None, village: str) -> str:
    street = f"Jl. {chance.choice(area.streets)} No.{chance.randrange(1, 240)}"
    parts = [street, f"Komp. {complex_name}" if complex_name else "", f"Kel. {village}"]
    return ", ".join([part for part in parts if part] + [f"Kec. {area.district}"])


def _position(chance: random.Random, area: Area) -> tuple[float, float]:
    latitude, longitude = area.centre
    return (
        round(latitude + (chance.random() - 0.5) * 0.016, 6),
        round(longitude + (chance.random() - 0.5) * 0.016, 6),
    )


def _uuid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def slugify(title: str) -> str:
    """The title in lower case with hyphens, as it stands in an address."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _with_gap(listing: DemoListing) -> DemoListing:
    """The listing without what a careless seller leaves out: sizes, rooms, once the price."""
    if listing.property_type == "shophouse" and listing.id % 4 == 0:
        return replace(
            listing, bedrooms=None, bathrooms=None, land_area=None, building_area=None, floors=None
        )
    if listing.property_type == "house" and listing.id % 11 == 0:
        return replace(listing, bedrooms=None, bathrooms=None)
    if "CCTV" in listing.facilities and listing.id % 13 == 0:
        return replace(listing, price=0, indexed_price=0)
    return listing
