"""Agreement between raters: use cases."""
