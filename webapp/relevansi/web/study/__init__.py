"""The study: pages."""
