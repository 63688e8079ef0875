"""The shared modules of the web layer."""
