"""Agreement between raters: commands."""
