"""Random changes that make the network robust."""

import torch


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, picture):
        for step in self.steps:
            picture = step(picture)
        return picture


def random_turn(picture):
    return torch.rot90(picture, int(torch.randint(0, 4, ())), dims=(1, 2))


def random_erase(picture, size=7, chance=0.5):
    if torch.rand(()) > chance:
        return picture
    top, left = torch.randint(0, picture.shape[1] - size, (2,)).tolist()
    picture = picture.clone()
    picture[:, top : top + size, left : left + size] = 0.0
    return picture


def random_noise(picture, strongest=1.0):
    return picture + strongest * torch.rand(()) * torch.randn_like(picture)


def training_transform():
    return Compose(random_turn, random_erase, random_noise)
