"""What makes the studies of the demos; the product only restores them."""
