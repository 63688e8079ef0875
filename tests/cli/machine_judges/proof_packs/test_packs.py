"""A proof pack holds what people judged, also once a machine judge is in use."""

from __future__ import annotations

from pathlib import Path

from tests.chatbot.bots import Bot
from tests.cli.machine_judges.commands import judge
from tests.conftest import NOW
from tests.stored_studies import study_in
from webapp.services.machine_judges import judges


def test_no_proof_pack_is_made_of_a_machines_verdicts(
    tmp_path: Path, bot: Bot, run_id: str
) -> None:
    judge(tmp_path, bot, "judge", "new", "Mesin")
    judge(tmp_path, bot, "judge", "run", "Mesin", "--yes")
    with study_in(tmp_path) as (session, study):
        judges.release(session, study, judges.named(session, study, "Mesin"), NOW)
    file = tmp_path / "pack.zip"

    packed = judge(
        tmp_path, bot, "export", run_id, "--rater", "Mesin", "--format", "proof-pack",
        "-o", str(file),
    )  # fmt: skip

    assert (packed.returncode, file.exists()) == (1, False)
    assert "A proof pack holds what people judged" in packed.stderr
