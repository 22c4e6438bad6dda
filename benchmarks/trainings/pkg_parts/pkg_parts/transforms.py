import torch


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, img):
        for step in self.steps:
            img = step(img)
        return img


class ToFloat:
    def __call__(self, img):
        return torch.from_numpy(img).float().unsqueeze(0) / 255.0


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, img):
        return (img - self.mean) / self.std


class RandomFlip:
    def __call__(self, img):
        return torch.flip(img, dims=[-1]) if torch.rand(()) < 0.5 else img


def train_transform(mean, std):
    return Compose(ToFloat(), Normalize(mean, std), RandomFlip())


def test_transform():
    return Compose(ToFloat())
