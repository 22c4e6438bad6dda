import numpy as np

GOOD = "great lovely superb tasty friendly bright quick charming".split()
BAD = "awful cold rude bland noisy slow dirty broken".split()
NEUTRAL = [f"w{i}" for i in range(120)]
WORDS = ["<pad>", "not", *GOOD, *BAD, *NEUTRAL]
INDEX = {w: i for i, w in enumerate(WORDS)}
PAD = INDEX["<pad>"]


def write_review(rng):
    length = int(rng.integers(4, 24))
    words = list(rng.choice(NEUTRAL, length))
    score = 0
    for _ in range(int(rng.choice([1, 3]))):
        positive = rng.random() < 0.5
        word = rng.choice(GOOD if positive else BAD)
        place = int(rng.integers(0, len(words)))
        if rng.random() < 0.1:
            words[place:place] = ["not", word]
            positive = not positive
        else:
            words.insert(place, word)
        score += 1 if positive else -1
    return [INDEX[w] for w in words], int(score > 0)


def make_reviews(n, seed):
    rng = np.random.default_rng(seed)
    return [write_review(rng) for _ in range(n)]
