"""Sizes and times as people write them."""
