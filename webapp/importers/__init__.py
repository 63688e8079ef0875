"""What files from outside say, as plain values: bytes in, records and problems out.

Nothing here opens a file, asks a network or knows the database.
"""
