"""RE036, as the text shows it: lengths and masks of rows that are padded already, beside those that know
where a row ends."""

from __future__ import annotations

import pytest

from reenact.faults.evidence import Evidence
from reenact.program.program import program_from_text
from reenact.program.training.rows.padding import padded_lengths

FULL = {
    "a data loader's batch": (
        (
            "def collate(docs):\n"
            "    ids = pad_sequence(docs, batch_first=True)\n"
            "    lengths = torch.tensor([len(d) for d in ids])\n"
            "    mask = torch.arange(ids.size(1))[None] >= lengths[:, None]\n"
            "    return ids, mask\n"
        ),
        3,
    ),
    "rows under the same name": (
        (
            "def collate(batch):\n"
            "    seqs = [b[0] for b in batch]\n"
            "    n = max(len(s) for s in seqs)\n"
            "    seqs = [s + [PAD] * (n - len(s)) for s in seqs]\n"
            "    lengths = [len(s) for s in seqs]\n"
            "    return torch.tensor(seqs), make_mask(lengths)\n"
        ),
        5,
    ),
    "map": (
        ("x = pad_sequences(texts)\nlens = list(map(len, x))\nmask = make(lens)\n"),
        2,
    ),
    "a tensor of padded rows": (
        (
            "rows = [r + [0] * (n - len(r)) for r in rows]\n"
            "x = torch.tensor(rows)\n"
            "seq_lens = torch.tensor([len(r) for r in x])\n"
            "out = pack_padded_sequence(x, seq_lens)\n"
        ),
        3,
    ),
    "a mask of ones": (
        (
            "def collate(batch):\n"
            "    ids = pad_sequence(batch)\n"
            "    attention_mask = torch.ones_like(ids)\n"
            "    return {'input_ids': ids, 'attention_mask': attention_mask}\n"
        ),
        3,
    ),
}
KNOWN = {
    "lengths before padding": (
        "def collate(docs):\n"
        "    lengths = torch.tensor([len(d) for d in docs])\n"
        "    ids = pad_sequence(docs)\n"
        "    mask = torch.arange(9) < lengths\n"
        "    return ids, mask\n"
    ),
    "lengths of the rows that were there": (
        "def collate(docs):\n"
        "    ids = pad_sequence(docs)\n"
        "    lengths = torch.tensor([len(d) for d in docs])\n"
        "    return ids, make_mask(lengths)\n"
    ),
    "tokens are counted": (
        "ids = pad_sequence(docs)\nlengths = (ids != 0).sum(1)\nmask = make(lengths)\n"
    ),
    "a mask that is filled": (
        "ids = pad_sequence(docs)\nmask = torch.ones_like(ids)\nmask[ids == 0] = 0\n"
    ),
    "a causal mask": (
        "ids = pad_sequence(docs)\nmask = torch.ones_like(ids)\nmask = torch.tril(mask)\n"
    ),
    "rows of one length": ("mask = torch.ones_like(ids)\nlengths = [len(i) for i in ids]\n"),
    "nobody asks for them": (
        "x = pad_sequence(rows)\nlengths = [len(r) for r in x]\nprint(max(lengths))\n"
    ),
    "a mask that is multiplied": (
        "ids = pad_sequence(docs)\nmask = torch.ones_like(ids)\nmask = mask * (ids != 0)\n"
    ),
}


def lines(text: str) -> list[int]:
    return [node.lineno for node, _ in padded_lengths(Evidence(program_from_text(text)).files)]


@pytest.mark.parametrize("name", FULL)
def test_lengths_of_padded_rows(name: str) -> None:
    text, line = FULL[name]
    assert lines(text) == [line]


@pytest.mark.parametrize("name", KNOWN)
def test_lengths_that_are_known(name: str) -> None:
    assert lines(KNOWN[name]) == []
