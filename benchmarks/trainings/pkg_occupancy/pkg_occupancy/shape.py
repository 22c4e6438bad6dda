"""A torus cut by a plane, as points that are inside or outside."""

import torch


def inside(p):
    ring = torch.sqrt(p[:, 0] ** 2 + p[:, 1] ** 2) - 0.6
    return ((ring**2 + p[:, 2] ** 2 < 0.06) & (p[:, 0] + 0.3 * p[:, 2] > -0.4)).float()


def grid(side):
    axis = torch.linspace(-1, 1, side)
    points = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), dim=-1).reshape(-1, 3)
    return points, inside(points)
