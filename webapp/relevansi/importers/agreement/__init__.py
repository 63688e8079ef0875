"""Agreement between raters: what is read from files."""
