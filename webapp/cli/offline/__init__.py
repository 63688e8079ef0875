"""Run a page without a server: commands."""
