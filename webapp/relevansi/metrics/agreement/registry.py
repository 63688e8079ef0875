"""The meaning of every agreement coefficient, in English message ids."""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.agreement.agreement import Agreement, Coefficient
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.judging.registry import MeasureGroup, by_name, explained

KIND_LABELS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
"""The name of each kind of items."""

SHARED_ITEMS = mark("items that at least two raters decided")
CANNOT_TELL = mark('"Cannot tell" counts as missing.')
ONE_LABEL = mark("No value when only one label was used.")
CHANCE_OF_ALL = mark(
    "Pa is over the items that at least two raters decided, the labels' shares are over all that "
    "anybody decided, as irrCAC has it: both counts are shown."
)
BEYOND_CHANCE = mark("0 is agreement no better than chance, below 0 is worse, 1 is perfect.")
WEIGHED = (
    mark("For exactly two raters, in studies with more than two grades."),
    ONE_LABEL,
    BEYOND_CHANCE,
)

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
        "linear_kappa",
        mark("Cohen's kappa, linear weights"),
        mark("Cohen's kappa for grades: a disagreement counts by how far apart they are."),
        mark("1 − observed / expected distance, the distance of grades j and k being |j − k|"),
        mark("items that both raters decided"),
        *WEIGHED,
        source="Cohen, J. (1968). Psychological Bulletin 70(4), 213-220.",
        unit="coefficient",
    ),
    explained(
        "quadratic_kappa",
        mark("Cohen's kappa, quadratic weights"),
        mark("Cohen's kappa for grades: a disagreement counts by the square of how far."),
        mark("1 − observed / expected distance, the distance of grades j and k being (j − k)²"),
        mark("items that both raters decided"),
        *WEIGHED,
        source="Cohen, J. (1968). Psychological Bulletin 70(4), 213-220.",
        unit="coefficient",
    ),
    explained(
        "fleiss_kappa",
        mark("Fleiss' kappa"),
        mark("Agreement of any number of raters beyond the labels' overall shares."),
        mark("(Pa − Pe) / (1 − Pe), Pe = sum over labels of their overall share squared"),
        SHARED_ITEMS,
        CHANCE_OF_ALL,
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
        mark("✓ and ✗ are names (nominal); grades are an order (ordinal)."),
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
        CHANCE_OF_ALL,
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

OF_TWO = ("cohen_kappa", "linear_kappa", "quadratic_kappa")
"""The coefficients that only two raters have."""

GROUPS = (MeasureGroup("agreement", mark("Inter-rater agreement"), COEFFICIENTS, place=4),)


def coefficients(agreement: Agreement) -> dict[str, Coefficient]:
    """The coefficients that `agreement` has by their names in ``COEFFICIENTS``, in its order."""
    kappas = (agreement.cohen, agreement.linear, agreement.quadratic, agreement.fleiss)
    values = dict(
        zip(COEFFICIENTS, (agreement.raw, *kappas, agreement.alpha, agreement.ac1), strict=True)
    )
    return {name: coefficient for name, coefficient in values.items() if coefficient is not None}
