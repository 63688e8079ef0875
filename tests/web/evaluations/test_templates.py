"""The pages of evaluations have titles, and use only what their contexts have."""

from __future__ import annotations

from tests.web.template_names import of_names, of_titles
from webapp.web.evaluations import evaluations, item_rating, machine_agreement

CONTEXTS = {
    "evaluations/index.html": evaluations.EvaluationList,
    "evaluations/_upload.html": evaluations.EvaluationList,
    "evaluations/page.html": evaluations.EvaluationPage,
    "evaluations/items.html": evaluations.ItemsPage,
    "evaluations/_items.html": evaluations.ItemsPage,
    "evaluations/item.html": evaluations.ItemPage,
    "evaluations/_item.html": evaluations.ItemPage,
    "evaluations/people.html": machine_agreement.PeoplePage,
    "evaluations/delete.html": evaluations.EvaluationDeletion,
    "evaluations/item_rating/index.html": item_rating.ItemOffers,
    "evaluations/item_rating/page.html": item_rating.ItemAsked,
    "evaluations/item_rating/_shown.html": item_rating.ItemAsked,
}

test_every_page_has_a_title = of_titles(CONTEXTS)
test_a_page_uses_only_what_its_context_has = of_names(CONTEXTS)
