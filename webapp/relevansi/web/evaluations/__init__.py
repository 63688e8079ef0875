"""Evaluations of files: pages."""
