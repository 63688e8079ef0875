"""How long the product takes for what it does often, beside a yardstick."""
