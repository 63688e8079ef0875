"""Inputs that nobody meant, made up from a seed and put into every way in; see ``nox -s fuzz``."""
