"""Pictures of a comparison, drawn here as SVG: scales in Python, markup by ``xml.etree``."""
