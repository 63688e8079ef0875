"""The made-up rater: verdicts on the three runs, derived by checking what was asked."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from listings import MILLION, NEAR_M, DemoListing

RATER = "Sari (contoh)"
FINISHED = 12  # questions 1-12 of every run are done; of one, the next is half done
CENTRE = frozenset({"Podomoro", "Petisah", "Medan Kota", "Polonia"})
NOTES = {("hybrid", 4): "Beberapa hasil di atas 1,3 M, padahal yang diminta sekitar 1M."}
RELEVANT, NOT_RELEVANT, UNSURE = "1", "0", "unsure"


@dataclass(frozen=True, slots=True)
class Need:
    """What the asker of a question really wants, in million rupiah and catalogue words."""

    types: frozenset[str] = frozenset({"house"})
    deals: frozenset[str] = frozenset({"sale"})
    areas: frozenset[str] | None = None
    lowest: int = 0
    highest: int | None = None
    bedrooms: int | None = None
    floors: int | None = None
    all_of: frozenset[str] = frozenset()
    any_of: frozenset[str] = frozenset()
    near: str | None = None
    complexes: frozenset[str] | None = None
    in_complex: bool = False


_RENT = frozenset({"rent"})
_ANY_DEAL = frozenset({"sale", "rent"})
_CEMARA, _RINGROAD = frozenset({"Cemara"}), frozenset({"Ringroad"})

NEEDS = {
    1: Need(areas=_CEMARA),
    2: Need(areas=_RINGROAD),
    3: Need(deals=_RENT),
    4: Need(areas=_CEMARA, lowest=800, highest=1300),
    5: Need(areas=_RINGROAD, highest=800, bedrooms=3),
    6: Need(deals=_RENT, highest=50, bedrooms=3),
    7: Need(areas=frozenset({"Podomoro", "Petisah"}), highest=1000),
    8: Need(
        types=frozenset({"house", "apartment"}), deals=_RENT, areas=frozenset({"Padang Bulan"})
    ),
    9: Need(areas=CENTRE, highest=1000),
    10: Need(types=frozenset({"shophouse"}), deals=_RENT, areas=frozenset({"Krakatau"})),
    11: Need(types=frozenset({"land"}), areas=frozenset({"Marelan"})),
    12: Need(
        types=frozenset({"warehouse"}),
        deals=frozenset({"sale", "rent"}),
        areas=frozenset({"Mabar"}),
    ),
    **dict.fromkeys((13, 14, 15), Need(areas=_RINGROAD, lowest=800, highest=1300, bedrooms=3)),
    **dict.fromkeys((16, 17), Need(areas=_RINGROAD, lowest=800, highest=1300, floors=3)),
    18: Need(areas=_RINGROAD, highest=800, floors=3),
    19: Need(deals=_ANY_DEAL, all_of=frozenset({"CCTV"})),
    20: Need(deals=_ANY_DEAL, all_of=frozenset({"WiFi"})),
    21: Need(deals=_ANY_DEAL, all_of=frozenset({"Lapangan Basket"}), in_complex=True),
    22: Need(deals=_ANY_DEAL, any_of=frozenset({"Carport 2 Mobil", "Garasi 3 Mobil"})),
    23: Need(deals=_ANY_DEAL, all_of=frozenset({"AC", "Lemari", "Dapur", "Tangki Air"})),
    24: Need(deals=_ANY_DEAL, near="mall"),
    25: Need(deals=_ANY_DEAL, near="sekolah"),
    26: Need(deals=_ANY_DEAL, near="mall", highest=800),
    27: Need(
        deals=_ANY_DEAL,
        highest=1000,
        all_of=frozenset({"Full Furnished", "Lapangan Basket"}),
        in_complex=True,
    ),
    28: Need(
        types=frozenset({"apartment"}),
        deals=_ANY_DEAL,
        areas=frozenset({"Podomoro"}),
        highest=1500,
    ),
    29: Need(complexes=frozenset({"Citraland Bagya City"})),
    30: Need(complexes=frozenset({"Givency One"})),
}


def judge(listing: DemoListing, need: Need) -> str:
    """Relevant, not relevant, or unsure where the card leaves a needed thing out."""
    checks = (
        listing.property_type in need.types,
        listing.listing_type in need.deals,
        need.areas is None or listing.area in need.areas,
        _price_meets(listing, need),
        need.bedrooms is None or _meets(listing.bedrooms, need.bedrooms),
        need.floors is None or _meets(listing.floors, need.floors),
        _place_meets(listing, need),
        need.all_of <= set(listing.facilities),
        not need.any_of or bool(need.any_of & set(listing.facilities)),
    )
    if False in checks:
        return NOT_RELEVANT
    return UNSURE if None in checks else RELEVANT


def _place_meets(listing: DemoListing, need: Need) -> bool:
    if need.in_complex and listing.complex is None:
        return False
    if need.complexes is not None and listing.complex not in need.complexes:
        return False
    near = {place.kind for place in listing.nearby if place.distance_m <= NEAR_M}
    return need.near is None or need.near in near


def _price_meets(listing: DemoListing, need: Need) -> bool | None:
    if need.highest is None:
        return True
    if listing.price == 0:
        return None
    return need.lowest * MILLION <= listing.price <= need.highest * MILLION


def _meets(stated: int | None, wanted: int) -> bool | None:
    return None if stated is None else stated == wanted


def rate(
    run: str,
    shown: Mapping[int, Sequence[DemoListing]],
    failed: Collection[int],
    catalogue: Sequence[DemoListing],
) -> list[dict[str, object]]:
    """The ratings of what `run` showed by question, those where the call `failed` left out."""
    answered = [number for number in range(1, FINISHED + 1) if number not in failed]
    return [_rating(run, number, shown[number], catalogue) for number in answered]


def half(run: str, shown: Mapping[int, Sequence[DemoListing]]) -> dict[str, object]:
    """The next question left in the middle: the upper half of its cards and nothing else."""
    verdicts = _verdicts(FINISHED + 1, shown[FINISHED + 1])
    upper = dict(list(verdicts.items())[: len(verdicts) // 2])
    return {
        "run": run,
        "query_id": FINISHED + 1,
        "results": upper,
        "quality": None,
        "notes": "",
        "empty_outcome": None,
    }


def _rating(
    run: str, number: int, shown: Sequence[DemoListing], catalogue: Sequence[DemoListing]
) -> dict[str, object]:
    verdicts = _verdicts(number, shown)
    return {
        "run": run,
        "query_id": number,
        "results": verdicts,
        "quality": quality(list(verdicts.values())),
        "notes": NOTES.get((run, number), ""),
        "empty_outcome": None if verdicts else outcome(number, catalogue),
    }


def _verdicts(number: int, shown: Sequence[DemoListing]) -> dict[str, str]:
    need = NEEDS[number]
    return {str(rank): judge(listing, need) for rank, listing in enumerate(shown, start=1)}


def outcome(question_id: int, catalogue: Sequence[DemoListing]) -> str:
    """Correct empty when the whole catalogue holds nothing that meets the need."""
    exists = any(judge(listing, NEEDS[question_id]) == RELEVANT for listing in catalogue)
    return "false_negative" if exists else "correct_empty"


def quality(verdicts: Sequence[str]) -> int:
    """The methodology's 0-5 by the share of relevant results among the decided."""
    decided = [verdict for verdict in verdicts if verdict != UNSURE]
    if not decided:
        return 0
    share = decided.count(RELEVANT) / len(decided)
    if share in {0, 1}:
        return 5 if share else 1
    return 2 if share < 0.5 else 3 if share <= 0.7 else 4
