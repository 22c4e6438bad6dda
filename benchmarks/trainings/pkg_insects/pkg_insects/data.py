from torch.utils.data import DataLoader, Dataset

from pkg_insects.augment import training_transform
from pkg_insects.silhouettes import draw


class TrapPictures(Dataset):
    def __init__(self, n, seed, transform=None):
        self.pictures, self.kinds = draw(n, seed)
        self.transform = transform

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        picture = self.pictures[index]
        if self.transform is not None:
            picture = self.transform(picture)
        return picture, self.kinds[index]


def loaders(batch_size):
    transform = training_transform()
    train = TrapPictures(1500, seed=1, transform=transform)
    val = TrapPictures(400, seed=2, transform=transform)
    return DataLoader(train, batch_size, shuffle=True), DataLoader(val, 200)
