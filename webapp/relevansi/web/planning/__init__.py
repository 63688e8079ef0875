"""Pages of planning: the plan, the orders that are settled, the sample."""
