"""The pages of machine judges have titles, and use only what their contexts have."""

from __future__ import annotations

from tests.web.template_names import of_names, of_titles
from webapp.web.machine_judges import judges

CONTEXTS = {
    "machine_judges/page.html": judges.JudgesPage,
    "machine_judges/new.html": judges.NewJudgePage,
    "machine_judges/judge.html": judges.JudgePage,
    "machine_judges/_work.html": judges.WorkPart,
    "machine_judges/agreement.html": judges.BesidePage,
}

test_every_page_has_a_title = of_titles(CONTEXTS)
test_a_page_uses_only_what_its_context_has = of_names(CONTEXTS)
