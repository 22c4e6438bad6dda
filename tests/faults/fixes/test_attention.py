"""Attention that sees later tokens or padding is given a mask, or its mask is turned round."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, refusal
from reenact.faults.fixes.attention import mask_later_tokens, mask_padding

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16, padding_idx=0)
        self.layer = {made}
        self.head = nn.Linear(16, 12)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = {called}  # mixes
        return self.head(x)
"""


def model(made: str, called: str) -> str:
    return MODEL.replace("{made}", made).replace("{called}", called)


LAYER = "nn.TransformerEncoderLayer(16, 2, batch_first=True)"
MADE = "nn.Transformer.generate_square_subsequent_mask"


@pytest.mark.parametrize(
    ("made", "called", "edited", "axis"),
    [
        (LAYER, "self.layer(x)", "self.layer(x, src_mask=mask)", 1),
        ("nn.TransformerEncoderLayer(16, 2)", "self.layer(x)", "self.layer(x, src_mask=mask)", 0),
        (f"nn.TransformerEncoder({LAYER}, 2)", "self.layer(x)", "self.layer(x, mask=mask)", 1),
        (
            "nn.MultiheadAttention(16, 2, batch_first=True)",
            "self.layer(x, x, x)[0]",
            "self.layer(x, x, x, attn_mask=mask)[0]",
            1,
        ),
    ],
)
def test_attention_is_given_a_mask_of_later_tokens(
    made: str, called: str, edited: str, axis: int
) -> None:
    text = model(made, called)
    lines = changed(text, lambda one: mask_later_tokens(one, at(text, "# mixes")))
    assert sorted(lines) == [
        f"+         mask = {MADE}(x.shape[{axis}], device=x.device)",
        f"+         x = {edited}  # mixes",
        f"-         x = {called}  # mixes",
    ]
    (after, *_) = edits(text, lambda one: mask_later_tokens(one, at(text, "# mixes")))
    assert edits(after, lambda one: mask_later_tokens(one, at(after, "# mixes"))) == []


def test_the_attention_of_pytorch_is_asked_to_be_causal() -> None:
    text = model("None", "nn.functional.scaled_dot_product_attention(x, x, x)")
    lines = changed(text, lambda one: mask_later_tokens(one, at(text, "# mixes")))
    assert "scaled_dot_product_attention(x, x, x, is_causal=True)  # mixes" in lines[1]


def test_the_attention_of_keras_is_asked_to_be_causal() -> None:
    text = (
        "import keras\nattend = keras.layers.MultiHeadAttention(2, 8)\ny = attend(x, x)  # mixes\n"
    )
    (after,) = edits(text, lambda one: mask_later_tokens(one, at(text, "# mixes")))
    assert "y = attend(x, x, use_causal_mask=True)  # mixes\n" in after
    assert edits(after, lambda one: mask_later_tokens(one, at(after, "# mixes"))) == []


BY_HAND = """
import torch

def attend(q, k, v):
    scores = q @ k.transpose(-2, -1)
    shares = scores.softmax(-1)
    return shares @ v
"""


def test_scores_of_later_tokens_are_hidden_before_the_softmax() -> None:
    (after,) = edits(BY_HAND, lambda one: mask_later_tokens(one, at(BY_HAND, "softmax")))
    hidden = "torch.ones(scores.shape[-2:], device=scores.device).triu(1).bool()"
    assert f'shares = scores.masked_fill({hidden}, float("-inf")).softmax(-1)\n' in after


def test_a_mask_that_hides_too_little_hides_the_diagonal_or_the_other_half() -> None:
    text = BY_HAND.replace(
        "    shares",
        "    hidden = torch.triu(torch.ones_like(scores), diagonal=2).bool()\n"
        '    scores = scores.masked_fill(hidden, float("-inf"))\n    shares',
    )
    every = edits(text, lambda one: mask_later_tokens(one, at(text, "triu")))
    assert "torch.triu(torch.ones_like(scores), diagonal=1).bool()" in every[0]
    assert any("torch.tril(torch.ones_like(scores), diagonal=2)" in one for one in every)
    assert any("scores.masked_fill(~hidden, " in one for one in every)


def test_a_convolution_is_padded_on_the_left() -> None:
    text = model("nn.Conv1d(16, 16, 3, padding=1)", "self.layer(x)")
    every = edits(text, lambda one: mask_later_tokens(one, at(text, "# mixes")))
    assert "self.layer = nn.Conv1d(16, 16, 3, padding=0)\n" in every[0]
    assert "x = self.layer(nn.functional.pad(x, (2, 0)))  # mixes\n" in every[0]
    text = "import keras\nlayer = keras.layers.Conv1D(8, 3, padding='same')\n"
    (after,) = edits(text, lambda one: mask_later_tokens(one, at(text, "layer")))
    assert 'padding="causal"' in after


def test_without_attention_there_is_nothing_to_mask() -> None:
    text = "x = 1\n"
    reason = refusal(text, lambda one: mask_later_tokens(one, at(text, "x")))
    assert reason == "No attention that could be given a mask is called here."


def test_padding_is_hidden_from_attention_and_left_out_of_the_mean() -> None:
    text = model(LAYER, "self.layer(x)").replace("self.head(x)", "self.head(x.mean(1))")
    (after,) = edits(text, lambda one: mask_padding(one, at(text, "# mixes")))
    assert "x = self.layer(x, src_key_padding_mask=(tokens == 0))  # mixes\n" in after
    hidden = "x.masked_fill((tokens == 0)[..., None], 0).sum(1)"
    kept = "(~(tokens == 0)).sum(1, keepdim=True).clamp(min=1)"
    assert f"self.head({hidden} / {kept})\n" in after


def test_where_padding_is_not_known_no_mask_is_made() -> None:
    text = model(LAYER, "self.layer(x)").replace(", padding_idx=0", "")
    reason = refusal(text, lambda one: mask_padding(one, at(text, "# mixes")))
    assert reason == "Where the padding is known is not seen in this function."


@pytest.mark.parametrize(
    ("mask", "edited"), [("ids != 0", "ids == 0"), ("~(ids == 0)", "(ids == 0)")]
)
def test_a_mask_that_is_the_wrong_way_round_is_turned(mask: str, edited: str) -> None:
    text = f"y = layer(x, src_key_padding_mask={mask})\n"
    first, *_ = edits(text, lambda one: mask_padding(one, at(text, mask)))
    assert f"src_key_padding_mask={edited})" in first
