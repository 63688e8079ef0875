"""Plans, settled orders and samples as tables, sentences and pictures."""
