"""Agreement between raters: pages."""
