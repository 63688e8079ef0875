"""The one-file page that works without a server: what is read from files."""
