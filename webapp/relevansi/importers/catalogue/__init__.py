"""Files of what could have been returned: readers."""
