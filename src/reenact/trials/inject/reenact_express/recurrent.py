"""Recurrent layers, one moment after the other. Keras's gates: i f c o; and z r h, reset afterwards."""

from __future__ import annotations

from reenact_express.activations import activation


def lstm(torch, step):
    act, gate = activation(torch, step["activation"]), activation(torch, step["gate"])

    def begin(x, units):
        return x.new_zeros(x.shape[0], units), x.new_zeros(x.shape[0], units)

    def move(state, given, weights):
        hidden, carry = state
        i, f, c, o = (given + hidden @ weights[1]).chunk(4, -1)
        carry = gate(f) * carry + gate(i) * act(c)
        return gate(o) * act(carry), carry

    return _loop(torch, step, begin, move, lambda weights: weights[2])


def simple(torch, step):
    act = activation(torch, step["activation"])

    def begin(x, units):
        return (x.new_zeros(x.shape[0], units),)

    def move(state, given, weights):
        return (act(given + state[0] @ weights[1]),)

    return _loop(torch, step, begin, move, lambda weights: weights[2])


def gru(torch, step):
    act, gate = activation(torch, step["activation"]), activation(torch, step["gate"])
    biased = len(step["weights"]) == 3

    def begin(x, units):
        return (x.new_zeros(x.shape[0], units),)

    def move(state, given, weights):
        hidden = state[0]
        inner = hidden @ weights[1]
        if biased:
            inner = inner + weights[2][1]
        given_z, given_r, given_h = given.chunk(3, -1)
        inner_z, inner_r, inner_h = inner.chunk(3, -1)
        z = gate(given_z + inner_z)
        candidate = act(given_h + gate(given_r + inner_r) * inner_h)
        return (z * hidden + (1 - z) * candidate,)

    return _loop(torch, step, begin, move, lambda weights: weights[2][0])


def _loop(torch, step, begin, move, bias_of):
    """Over the moments of a sequence; what comes from outside is multiplied in one go."""
    biased, sequences = len(step["weights"]) == 3, step["sequences"]

    def run(weights, x, _):
        given = x @ weights[0]
        if biased:
            given = given + bias_of(weights)
        state = begin(x, weights[1].shape[0])
        seen = []
        for moment in given.unbind(1):
            state = move(state, moment, weights)
            seen.append(state[0])
        return torch.stack(seen, 1) if sequences else state[0]

    return run
