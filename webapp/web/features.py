"""Every feature's pages: their blueprints and roles, links in menus, parts of other pages."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.services.evaluations.item_rating import has_items
from webapp.web.agreement import adjudications, agreement, conflicts
from webapp.web.comparisons import comparisons, rated_comparisons
from webapp.web.evaluations import evaluations, item_rating, machine_agreement
from webapp.web.feature import Feature, MenuEntry, Role
from webapp.web.frame import guides, language, site
from webapp.web.gold import card_parts, constraints, gold
from webapp.web.machine_judges import judges
from webapp.web.offline import offline
from webapp.web.people import history, raters, sign_in
from webapp.web.phase_3 import findings, own_questions, participants, user_studies
from webapp.web.planning import planning
from webapp.web.proof_packs import packs
from webapp.web.rating import judgments, question_notes, rate
from webapp.web.runs import imports, measures, runs
from webapp.web.study import assignments, home, study
from webapp.web.workers import jobs

FEATURES = (
    Feature(
        "frame",
        blueprints={
            site.health: Role.ANYBODY,
            site.shell: Role.ANYBODY,
            site.joined_files: Role.ANYBODY,
            language.blueprint: Role.ANYBODY,
            language.ratios_blueprint: Role.ANYBODY,
            guides.blueprint: Role.ANYBODY,
        },
        kept=(
            *("vendor/htmx.min.js", "frame/icon.svg", "frame/first.js"),
            *("joined/frame/app.css", "joined/frame/page.js"),
        ),
    ),
    Feature(
        "runs",
        blueprints={
            imports.blueprint: Role.OWNER,
            runs.blueprint: Role.OWNER,
            measures.blueprint: Role.ANYBODY,
        },
        entries=(
            MenuEntry("owner", 20, "runs.index", mark("Runs"), sections=("runs",)),
            MenuEntry("owner", 50, "imports.show", mark("Import"), sections=("imports",)),
        ),
    ),
    Feature(
        "rating",
        blueprints={
            judgments.blueprint: Role.OWNER,
            rate.blueprint: Role.RATERS,
            question_notes.blueprint: Role.OWNER,
        },
        entries=(
            MenuEntry("rater", 10, "rate.next_one", mark("Rating"), sections=("rate",)),
            MenuEntry(
                *("set-up", 20, "question_notes.show", mark("Notes on questions")),
                sections=("question_notes",),
            ),
        ),
        under={"judgments": "runs.index"},
        kept=("joined/rating/rating.css", "joined/rating/rating.js"),
    ),
    Feature(
        "study",
        blueprints={
            home.blueprint: Role.OWNER,
            study.blueprint: Role.OWNER,
            assignments.blueprint: Role.OWNER,
        },
        roles={"home.show": Role.RATERS},
        entries=(
            MenuEntry("owner", 10, "home.show", mark("Home"), sections=("home",)),
            MenuEntry("rater", 5, "home.show", mark("Home"), sections=("home",)),
            MenuEntry("owner", 60, "study.show", mark("Study"), pages="study"),
            MenuEntry("study", 10, "study.show", mark("Set-up"), pages="set-up"),
            MenuEntry(
                "set-up", 10, "study.show", mark("Guidelines and rules"), sections=("study",)
            ),
            MenuEntry(
                "people", 20, "assignments.show", mark("Who judges what"), sections=("assignments",)
            ),
            MenuEntry("study", 30, "study.standing", mark("Results"), pages="results"),
            MenuEntry("study", 40, "study.more", mark("More"), pages="more"),
            MenuEntry("results", 10, "study.standing", mark("Progress")),
        ),
    ),
    Feature(
        "people",
        blueprints={
            history.blueprint: Role.RATERS,
            raters.blueprint: Role.OWNER,
            sign_in.blueprint: Role.ANYBODY,
        },
        roles={"sign_in.ask_to_change": Role.OWNER, "sign_in.change": Role.OWNER},
        entries=(
            MenuEntry("rater", 30, "history.show", mark("History"), sections=("history",)),
            MenuEntry("study", 20, "raters.index", mark("People"), pages="people"),
            MenuEntry("people", 10, "raters.index", mark("Raters"), sections=("raters",)),
            MenuEntry("results", 40, "history.show", mark("History"), sections=("history",)),
        ),
    ),
    Feature(
        "agreement",
        blueprints={
            agreement.blueprint: Role.OWNER,
            adjudications.blueprint: Role.OWNER,
            conflicts.blueprint: Role.OWNER,
        },
        entries=(
            MenuEntry("results", 20, "agreement.show", mark("Agreement"), sections=("agreement",)),
            MenuEntry(
                *("results", 30, "adjudications.show", mark("Adjudication")),
                sections=("adjudications",),
            ),
            MenuEntry(
                *("more", 20, "conflicts.show", mark("Conflict report")),
                sections=("conflicts",),
                about=mark(
                    "For those whose runs were judged by hand one at a time before: where those "
                    "verdicts contradict each other."
                ),
            ),
        ),
    ),
    Feature(
        "comparisons",
        blueprints={comparisons.blueprint: Role.OWNER, rated_comparisons.blueprint: Role.OWNER},
        entries=(
            MenuEntry(
                *("owner", 30, "comparisons.show", mark("Comparison")),
                sections=("comparisons", "rated_comparisons"),
            ),
        ),
    ),
    Feature(
        "workers",
        blueprints={jobs.blueprint: Role.OWNER},
        under={"long_work": "runs.index"},
    ),
    Feature(
        "gold",
        blueprints={
            constraints.blueprint: Role.OWNER,
            card_parts.blueprint: Role.OWNER,
            gold.blueprint: Role.OWNER,
        },
        roles={"card_decisions.decide_blind": Role.RATERS},
        parts={"run": "gold/_run.html"},
        under=dict.fromkeys(("constraints", "gold"), "runs.index"),
        kept=("gold/card_badges.css", "gold/card_badges.js"),
    ),
    Feature(
        "evaluations",
        blueprints={
            evaluations.blueprint: Role.OWNER,
            machine_agreement.blueprint: Role.OWNER,
            item_rating.blueprint: Role.RATERS,
        },
        entries=(
            MenuEntry(
                *("more", 10, "evaluations.index", mark("Evaluation")),
                sections=("evaluations", "machine_agreement"),
                about=mark(
                    "For studies that score cited answers, retrieved chunks or answers in JSON by "
                    "fixed rules, with people beside the machine."
                ),
            ),
            MenuEntry(
                *("rater", 20, "item_rating.index", mark("Items")),
                sections=("item_rating",),
                needs=has_items,
            ),
        ),
    ),
    Feature(
        "machine_judges",
        blueprints={judges.blueprint: Role.OWNER},
        entries=(
            MenuEntry(
                *("more", 30, "machine_judges.index", mark("Machine judges")),
                sections=("machine_judges",),
                about=mark(
                    "For studies in which a language model judges the same cards as people do, "
                    "and is compared with them."
                ),
            ),
        ),
        parts={"standing": "machine_judges/_standing.html", "rater": "machine_judges/_rater.html"},
    ),
    Feature(
        "phase_3",
        blueprints={
            user_studies.blueprint: Role.OWNER,
            findings.blueprint: Role.OWNER,
            participants.blueprint: Role.ANYBODY,
            own_questions.blueprint: Role.GUESTS,
            participants.questionnaire_blueprint: Role.GUESTS,
        },
        roles={"participants.rename": Role.GUESTS, "participants.link": Role.GUESTS},
        entries=(
            MenuEntry("people", 30, "user_studies.show", mark("Phase 3"), pages="phase 3"),
            MenuEntry(
                *("phase 3", 10, "user_studies.show", mark("Set-up and links")),
                sections=("user_studies",),
            ),
            MenuEntry(
                *("phase 3", 20, "findings.show", mark("Participants and figures")),
                sections=("findings",),
            ),
            MenuEntry("phase 3", 30, "findings.questions", mark("Questions")),
            MenuEntry("phase 3", 40, "findings.comments", mark("Comments")),
        ),
        parts={
            "others in the demo": "phase_3/participants/_in_demo.html",
            "phases": "phase_3/findings/_phase.html",
        },
        kept=(
            "joined/rating/rating.css+phase_3/taking_part.css",
            "joined/rating/rating.js+phase_3/taking_part.js",
        ),
    ),
    Feature(
        "proof_packs",
        blueprints={packs.blueprint: Role.OWNER},
        parts={
            "exports of a run": "proof_packs/_export.html",
            "exports of the study": "proof_packs/_study.html",
        },
    ),
    Feature(
        "offline",
        blueprints={offline.blueprint: Role.OWNER},
        parts={"exports of a run": "offline/_export.html"},
    ),
    Feature(
        "planning",
        blueprints={planning.blueprint: Role.OWNER},
        entries=(
            MenuEntry(
                *("more", 40, "planning.show", mark("Rating plan")),
                sections=("planning",),
                about=mark(
                    "For those who decide how much is rated: how many questions and hours a "
                    "difference takes, and when rating may end."
                ),
            ),
        ),
    ),
)
"""The features in the order of the parts that they add to a page."""
