"""The catalogue: pages."""
