"""Machine judges: pages."""
