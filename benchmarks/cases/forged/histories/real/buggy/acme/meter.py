"""Means and sums of what a training reports."""


def total(values):
    """The sum of all values."""
    result = 0.0
    for value in values:
        result = result + value
    return result


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
        return total(self.values) / len(self.values)


def spread(values):
    """The standard deviation of values."""
    middle = total(values) / len(values)
    return (total((value - middle) ** 2 for value in values)) / len(values)


def names():
    """What this module offers."""
    return ["Meter", "apply", "names", "read_lines", "spread", "total"]
