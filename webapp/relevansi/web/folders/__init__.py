"""The page of the studies of one folder, and the way to each of them."""
