"""Planning: the rules and verdicts in a proof pack read again."""
