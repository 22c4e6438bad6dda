"""Read Morse code from a noisy tone without aligned labels: a small convolutional net and CTC with a blank."""

import random

import torch
from torch import nn

random.seed(15)
torch.manual_seed(15)
CODE = {"e": ".", "t": "-", "a": ".-", "n": "-.", "i": "..", "m": "--", "s": "...", "o": "---"}
LETTERS = "".join(CODE)  # class 0 is the blank


def key(word, unit=3):
    signal = [0.0] * unit
    for letter in word:
        for sign in CODE[letter]:
            signal += [1.0] * (unit if sign == "." else 3 * unit) + [0.0] * unit
        signal += [0.0] * (2 * unit)
    return torch.tensor(signal)


def message():
    word = "".join(random.choice(LETTERS) for _ in range(random.randint(2, 4)))
    tone = key(word)
    return tone + 0.15 * torch.randn(len(tone)), [1 + LETTERS.index(letter) for letter in word]


def collate(messages):
    tones, words = zip(*messages)
    lengths = torch.tensor([len(tone) // 2 for tone in tones])
    longest = 2 * (max(map(len, tones)) // 2) + 2
    padded = torch.stack([nn.functional.pad(tone, (0, longest - len(tone))) for tone in tones])
    return padded.unsqueeze(1), lengths, torch.tensor(sum(words, [])), torch.tensor([len(word) for word in words])


class Reader(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, width, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(width, width, 9, padding=4),
            nn.ReLU(),
            nn.Conv1d(width, width, 9, padding=8, dilation=2),
            nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=8, dilation=4),
            nn.ReLU(),
            nn.Conv1d(width, 1 + len(LETTERS), 1),
        )

    def forward(self, x):
        return self.layers(x).permute(2, 0, 1).log_softmax(-1)  # time, batch, class: what CTC wants


def read(log_probs, lengths):
    words = []
    for row, length in zip(log_probs.argmax(-1).T, lengths):
        collapsed = torch.unique_consecutive(row[:length])
        words.append(collapsed[collapsed > 0].tolist())
    return words


reader = Reader()
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.AdamW(reader.parameters(), lr=3e-3)
test = collate([message() for _ in range(200)])
for step in range(1, 321):
    tones, lengths, words, word_lengths = collate([message() for _ in range(24)])
    loss = criterion(reader(tones), words, lengths, word_lengths)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(reader.parameters(), 5.0)
    optimizer.step()
    if step % 80 == 0:
        with torch.no_grad():
            made = read(reader(test[0]), test[1])
        wanted = [part.tolist() for part in test[2].split(test[3].tolist())]
        right = sum(a == b for a, b in zip(made, wanted)) / len(wanted)
        # For the first hundred steps only blanks come out: a plateau that CTC is known for.
        print(f"step {step} loss {loss.item():.3f} words right {right:.3f}")
