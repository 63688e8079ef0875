"""The one-file page that works without a server: what is written to files."""
