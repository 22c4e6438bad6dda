"""Sources too large or too deep to be committed: each function answers the text of one."""


def elifs(count=5000):
    """One `if` with that many `elif`: an honest program, yet it nests as deeply as it is long."""
    arms = "".join(f"elif n == {i}:\n    lr = {i / 1000}\n" for i in range(1, count))
    return f"import torch\nn = 3\nif n == 0:\n    lr = 1.0\n{arms}{_training('lr')}"


def sums(count=5000):
    """A sum of that many terms in one expression."""
    return f"import torch\nlr = {' + '.join(['0.00001'] * count)}\n{_training('lr')}"


def parentheses(count=300):
    """More brackets than the parser of Python takes."""
    return f"import torch\nlr = {'(' * count}0.1{')' * count}\n{_training('lr')}"


def long_line(count=200_000):
    """A list of that many numbers on one line."""
    return f"import torch\ntable = [{', '.join(str(i % 10) for i in range(count))}]\n{_training('0.1')}"


def many_layers(count=500):
    """A Sequential literal of that many layers."""
    rows = "".join("    torch.nn.Linear(2, 2),\n" for _ in range(count))
    return f"import torch\nmodel = torch.nn.Sequential(\n{rows})\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"


def _training(rate):
    return f"model = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr={rate})\n"
