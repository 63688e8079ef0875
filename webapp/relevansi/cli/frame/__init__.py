"""The shared modules of the command line."""
