"""Rating: pages."""
