"""Agreement between raters: what is written to files."""
