"""Claims that hold for every input."""
