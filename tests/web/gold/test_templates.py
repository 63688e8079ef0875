"""The pages of gold questions have titles, and use only what their contexts have."""

from __future__ import annotations

from tests.web.template_names import of_names, of_titles
from webapp.web.gold import card_parts, constraints, gold

CONTEXTS = {
    "gold/index.html": gold.GoldSets,
    "gold/page.html": gold.GoldPage,
    "gold/_met.html": gold.GoldPage,
    "gold/question.html": gold.GoldQuestionPage,
    "gold/_preview.html": gold.GoldQuestionPage,
    "gold/card_badges/_decided.html": card_parts.Decided,
    "gold/constraints/page.html": constraints.ConstraintsPage,
    "gold/constraints/question.html": constraints.CheckedQuestionPage,
    "gold/constraints/_clicked.html": constraints.CheckedQuestionPage,
    "gold/constraint_agreement/page.html": constraints.ConstraintAgreementPage,
}

test_every_page_has_a_title = of_titles(CONTEXTS)
test_a_page_uses_only_what_its_context_has = of_names(CONTEXTS)
