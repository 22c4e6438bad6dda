"""Means and sums of what a training reports."""

import math


def total(values):
    """The sum of all values."""
    return math.fsum(values)


def apply(function, *values):
    """Call a function of the user's."""
    return function(*values)


def read_lines(path):
    """The lines of a log file."""
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


class Meter:
    """The mean of what it was given."""

    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def extend(self, values):
        self.values = values

    def mean(self):
        """The mean of all values so far."""
        if not self.values:
            return 0.0
        return total(self.values) / len(self.values)


def spread(values):
    """The standard deviation of values."""
    middle = total(values) / len(values)
    return (total((value - middle) ** 2 for value in values) / len(values)) ** 0.5


def names():
    """What this module offers."""
    return ["Meter", "apply", "median", "names", "read_lines", "spread", "total"]


def median(values):
    """The middle one of values."""
    return sorted(values)[len(values) // 2]
