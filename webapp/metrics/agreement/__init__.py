"""Agreement between raters: figures."""
