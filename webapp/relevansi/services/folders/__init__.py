"""The studies of one folder: their list, and what is done with them as files."""
