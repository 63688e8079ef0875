"""Evaluations of files: services outside that are asked."""
