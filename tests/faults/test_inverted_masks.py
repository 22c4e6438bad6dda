"""RE036, as the text shows it: masks that are the wrong way round, beside those that are right."""

from __future__ import annotations

import re

import pytest

from reenact.faults.evidence import Evidence
from reenact.program.program import program_from_text
from reenact.program.training.rows.padding import inverted_masks

INVERTED = {
    "tokens are left out": ("x = encoder(x, src_key_padding_mask=ids != PAD)\n"),
    "a variable": (
        "def f(x, ids):\n    mask = ids.ne(pad_id)\n    return attn(x, x, x, "
        "key_padding_mask=mask)[0]\n"
    ),
    "lengths": (
        "keep = torch.arange(n)[None] < lengths[:, None]\nx = encoder(x, "
        "src_key_padding_mask=keep)\n"
    ),
    "turned round once too often": (
        "pad = ids == PAD\nx = encoder(x, src_key_padding_mask=~pad)\n"
    ),
    "scores": ("mask = (ids != PAD)[:, None, None, :]\ns = s.masked_fill(mask, float('-inf'))\n"),
    "a model of transformers": (
        "out = bert(input_ids=ids, attention_mask=(ids == tokenizer.pad_token_id).long())\n"
    ),
}
RIGHT = {
    "padding is left out": ("x = encoder(x, src_key_padding_mask=ids == PAD)\n"),
    "tokens turned round": ("keep = ids != PAD\nx = encoder(x, src_key_padding_mask=~keep)\n"),
    "lengths": (
        "pad = torch.arange(n)[None] >= lengths[:, None]\nx = encoder(x, "
        "src_key_padding_mask=pad)\n"
    ),
    "lengths first": (
        "pad = lengths[:, None] <= torch.arange(n)[None]\nx = encoder(x, "
        "src_key_padding_mask=pad)\n"
    ),
    "scores of what is 0": (
        "mask = (ids != PAD)[:, None]\ns = s.masked_fill(mask == 0, float('-inf'))\n"
    ),
    "values behind padding": ("x = x.masked_fill((ids != PAD)[..., None], 0.0)\n"),
    "a mask from elsewhere": (
        "def f(x, mask):\n    return encoder(x, src_key_padding_mask=mask)\n"
    ),
    "a model of transformers": (
        "out = bert(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id))\n"
    ),
    "a causal mask": ("s = s.masked_fill(torch.triu(ones, 1).bool(), float('-inf'))\n"),
}


FILLERS = """
table = nn.Embedding(20, 8, padding_idx=PAD)
other = nn.Embedding(20, 8, padding_idx=pad_id)
"""
NAMES = ("ids", "PAD", "pad_id", "mask", "keep", "pad", "lengths")


def lines(text: str) -> int:
    read = Evidence(program_from_text(text + FILLERS)).files
    return len(list(inverted_masks(list(read))))


@pytest.mark.parametrize("name", INVERTED)
def test_masks_that_leave_out_tokens(name: str) -> None:
    assert lines(INVERTED[name]) == 1


@pytest.mark.parametrize("name", INVERTED)
def test_what_variables_are_called_does_not_matter(name: str) -> None:
    read = Evidence(program_from_text(other_names(INVERTED[name] + FILLERS))).files
    assert len(list(inverted_masks(list(read)))) == 1


def other_names(text: str) -> str:
    for number, word in enumerate(NAMES):
        text = re.sub(rf"\b{word}\b", f"v{number}", text)
    return text


@pytest.mark.parametrize("name", RIGHT)
def test_masks_that_leave_out_padding(name: str) -> None:
    assert lines(RIGHT[name]) == 0
