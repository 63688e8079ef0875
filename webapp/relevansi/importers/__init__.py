"""Readers of files from outside: they take bytes and return records and problems.

Nothing here opens a file, asks a network or knows the database.
"""
