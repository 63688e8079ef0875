"""Parts of tables of labels that several tests of agreement measure."""

from __future__ import annotations

from webapp.metrics.agreement.agreement import Bootstrap

FEW = Bootstrap(resamples=5)
N = None  # a label that is missing
