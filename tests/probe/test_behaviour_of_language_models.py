"""What a live language model does with changed tokens: it sees those to come, or its targets
lie wrong.
"""

from __future__ import annotations

from typing import Any

import pytest

from reenact.probe import injected
from tried_models import HEAD, behaviour

LANGUAGE = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.qkv = nn.Linear(16, 48)
        self.head = nn.Linear(16, 12)
    def forward(self, tokens):
        q, k, v = self.qkv(self.embed(tokens)).chunk(3, -1)
        scores = q @ k.transpose(1, 2)
        length = tokens.shape[1]
        scores = scores.masked_fill(torch.ones(length, length).triu(FIRST).bool(), -1e9)
        return self.head(scores.softmax(-1) @ v)
model = Model()
text = (torch.randint(12, (8, 1)) + torch.arange(10) * torch.randint(1, 5, (8, 1))) % 12
optimizer = torch.optim.Adam(model.parameters())
F.cross_entropy(model(text[:, :-BY]).flatten(0, 1), text[:, BY:].flatten()).backward()
optimizer.step()
"""
)
GIVEN_LABELS = """scores = self.head(scores.softmax(-1) @ v)
        return scores, F.cross_entropy(scores[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
"""


def test_a_mask_that_lets_the_next_token_through_is_a_leak(forks: Any) -> None:
    sound = behaviour(forks, LANGUAGE.replace("FIRST", "1").replace("BY", "1"))
    leaks = behaviour(forks, LANGUAGE.replace("FIRST", "2").replace("BY", "1"))
    assert (sound.shift, leaks.shift) == (1, 1)
    assert sound.leak is not None
    assert sound.leak < 1e-5
    assert leaks.leak is not None
    assert leaks.leak > 1e-3
    assert leaks.leak_at is not None
    assert leaks.leak_at.forward is not None
    assert (str(leaks.leak_at.forward.file), leaks.leak_at.forward.line) == (
        "train.py",
        13,
    )


@pytest.mark.release
def test_a_target_two_places_on_differs_from_the_next_token(forks: Any) -> None:
    assert behaviour(forks, LANGUAGE.replace("FIRST", "1").replace("BY", "2")).shift == 2


@pytest.mark.release
def test_a_model_that_is_given_its_labels_and_shifts_them_once_more(forks: Any) -> None:
    text = LANGUAGE.replace("FIRST", "1").replace(
        "forward(self, tokens)", "forward(self, tokens, labels)"
    )
    text = text.replace("return self.head(scores.softmax(-1) @ v)", GIVEN_LABELS)
    text = (
        text[: text.index("F.cross_entropy(model(")]
        + "model(text[:, :-1], text[:, 1:])[1].backward()\n"
    )
    assert behaviour(forks, text + "optimizer.step()\n").shift == 2


@pytest.mark.parametrize("places", [1, 2])
def test_padded_rows_whose_last_target_no_input_has(places: int) -> None:
    """Inputs `row[:-1]` and labels `row[1:]`, padded behind; a model that shifts once more
    makes it two.
    """
    torch = pytest.importorskip("torch")
    shift = injected.part("experiment.behaviour")._shift
    lengths = [4, 6, 9, 12]
    rows = [torch.arange(length + 1) * 7 % 29 + 1 for length in lengths]
    tokens, target = torch.zeros(4, 12, dtype=torch.long), torch.full((4, 12), -100)
    for number, row in enumerate(rows):
        tokens[number, : len(row) - 1] = row[:-1]
        target[number, : len(row) - places] = row[places:]
    assert shift(tokens, [target.flatten()]) == (1, places)


ANSWERED = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.cell = nn.GRUCell(16, 16)
        self.head = nn.Linear(16, 12)
    def forward(self, source, answers):
        state, token, scores = self.embed(source).mean(1), torch.zeros(len(source), dtype=torch.long), []
        for place in range(answers.shape[1]):
            BEFORE
            state = self.cell(self.embed(token), state)
            scores.append(self.head(state))
            token = answers[:, place]
        return torch.stack(scores, 1)
model = Model()
text = (torch.randint(12, (8, 1)) + torch.arange(6) * torch.randint(1, 5, (8, 1))) % 12
optimizer = torch.optim.Adam(model.parameters())
F.cross_entropy(model(text.flip(1), text).flatten(0, 1), text.flatten()).backward()
optimizer.step()
"""
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("before", "shift"), [("pass", None), ("token = answers[:, place]", 0)])
def test_answers_that_the_model_is_given_are_a_leak_where_it_reads_them(
    forks: Any, before: str, shift: int | None
) -> None:
    """Teacher forcing hands the model its whole target, and gives it one token after the other."""
    assert behaviour(forks, ANSWERED.replace("BEFORE", before)).shift == shift
