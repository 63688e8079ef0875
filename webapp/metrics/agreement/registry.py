"""The meaning of every agreement coefficient, in English message ids."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.metrics.agreement.agreement import Agreement, Coefficient
from webapp.metrics.agreement.report import ItemKind
from webapp.metrics.judging.registry import MeasureGroup, by_name, explained

KIND_LABELS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
"""The name of each kind of items."""

SHARED_ITEMS = mark("items that at least two raters decided")
CANNOT_TELL = mark('"Cannot tell" counts as missing.')
ONE_LABEL = mark("No value when only one label was used.")
BEYOND_CHANCE = mark("0 is agreement no better than chance, below 0 is worse, 1 is perfect.")

COEFFICIENTS = by_name(
    explained(
        "raw",
        mark("Raw agreement"),
        mark("How often two raters of the same item say the same."),
        mark("Pa = mean over items of agreeing pairs of raters / all pairs of raters"),
        SHARED_ITEMS,
        mark("Agreement by chance is not taken off."),
        CANNOT_TELL,
        source="Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382.",
    ),
    explained(
        "cohen_kappa",
        mark("Cohen's kappa"),
        mark("Agreement of two raters beyond what their own habits would give."),
        mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of rater A's share × rater B's"),
        mark("items that both raters decided"),
        mark("For exactly two raters."),
        ONE_LABEL,
        BEYOND_CHANCE,
        source="Cohen, J. (1960). Educational and Psychological Measurement 20(1), 37-46.",
        unit="coefficient",
    ),
    explained(
        "fleiss_kappa",
        mark("Fleiss' kappa"),
        mark("Agreement of any number of raters beyond the labels' overall shares."),
        mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of their overall share squared"),
        SHARED_ITEMS,
        ONE_LABEL,
        BEYOND_CHANCE,
        source="Fleiss, J. L. (1971). Psychological Bulletin 76(5), 378-382.",
        unit="coefficient",
    ),
    explained(
        "krippendorff_alpha",
        mark("Krippendorff's alpha"),
        mark("One minus observed over expected disagreement; verdicts may be missing."),
        mark("1 − observed / expected disagreement"),
        SHARED_ITEMS,
        mark("Verdicts are names (nominal); quality 0-5 is an order (ordinal)."),
        ONE_LABEL,
        BEYOND_CHANCE,
        source=(
            "Hayes, A. F., & Krippendorff, K. (2007). "
            "Communication Methods and Measures 1(1), 77-89."
        ),
        unit="coefficient",
    ),
    explained(
        "gwet_ac1",
        mark("Gwet's AC1"),
        mark("Agreement beyond chance that stays steady where one label prevails."),
        mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of p (1 − p) / (labels − 1)"),
        SHARED_ITEMS,
        mark("Defined, as 1, when only one label was used."),
        BEYOND_CHANCE,
        source=(
            "Gwet, K. L. (2008). British Journal of Mathematical and Statistical "
            "Psychology 61(1), 29-48."
        ),
        unit="coefficient",
    ),
)
"""Every coefficient by the name it has in JSON, in the order in which they are shown."""

GROUPS = (MeasureGroup("agreement", mark("Inter-rater agreement"), COEFFICIENTS, place=4),)


def coefficients(found: Agreement) -> dict[str, Coefficient]:
    """The coefficients of `found` by their names in ``COEFFICIENTS``, in its order."""
    values = (found.raw, found.cohen, found.fleiss, found.alpha, found.ac1)
    return dict(zip(COEFFICIENTS, values, strict=True))
