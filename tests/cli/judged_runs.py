"""The sample run that commands are tried on."""

from __future__ import annotations

from relevansi.config import resource

HYBRID = resource("seeds") / "runs" / "hybrid"
