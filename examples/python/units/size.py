"""Sizes in bytes."""

UNITS = ["B", "KiB", "MiB", "GiB"]


def show(size):
    """The size in the largest unit that leaves a whole number: 2048 is "2 KiB"."""
    unit = 0
    while size and size % 1024 == 0 and unit < len(UNITS) - 1:
        size //= 1024
        unit += 1
    return f"{size} {UNITS[unit]}"
