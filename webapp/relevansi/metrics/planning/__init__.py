"""Enough judgments and no more: how many are needed, which still matter, what a sample shows."""
