"""Whatever the program is, an edit leaves it Python, and none is made by an exception."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from edited_programs import read
from reenact.faults import Suggestion
from reenact.faults.fixes.attention import mask_later_tokens, mask_padding
from reenact.faults.fixes.gradients import (
    clear_before_backward,
    clear_gradients,
    let_go_of_graph,
    unscale_before_clipping,
)
from reenact.faults.fixes.labels import one_order
from reenact.faults.fixes.layers import clear_once_a_step, flatten_before, shuffle_rows
from reenact.faults.fixes.losses import divide_by_temperature, reduce_alike, share_of_rows
from reenact.faults.fixes.modes import evaluate, train, update_statistics
from reenact.faults.fixes.numerics import limit_at_one, use_bfloat16
from reenact.faults.fixes.outputs import (
    align_target,
    lower_the_loss,
    mean_over_rows,
    other_dimension,
    turn_sign,
    turn_term,
)
from reenact.faults.fixes.parameters import (
    give_to_optimizer,
    join_graph,
    load_matching_names,
    register_modules,
)
from reenact.faults.fixes.scaling import fit_on_training_rows
from reenact.faults.fixes.schedules import step_each_epoch
from reenact.faults.fixes.sequence import batch_first, shift_once
from reenact.faults.fixes.splits import judge_other_rows, split_first
from reenact.faults.fixes.ties import tie_weights
from reenact.types import Place

CORPUS = Path(__file__).parents[2] / "corpus"
PROGRAMS = sorted(CORPUS.rglob("*.py"))
EVERY_SO_MANY = 7
"""Lines from one place to the next."""
WHOLE = (
    clear_before_backward,
    clear_gradients,
    clear_once_a_step,
    give_to_optimizer,
    judge_other_rows,
    lower_the_loss,
    mean_over_rows,
    shift_once,
    shuffle_rows,
    step_each_epoch,
    train,
    use_bfloat16,
)
AT_A_LINE = (
    batch_first,
    divide_by_temperature,
    evaluate,
    fit_on_training_rows,
    flatten_before,
    join_graph,
    let_go_of_graph,
    limit_at_one,
    load_matching_names,
    mask_later_tokens,
    mask_padding,
    one_order,
    reduce_alike,
    register_modules,
    share_of_rows,
    split_first,
    tie_weights,
    turn_sign,
    turn_term,
    unscale_before_clipping,
    update_statistics,
    lambda evidence, place: align_target(evidence, place, (8, 1), (8,)),
    lambda evidence, place: other_dimension(evidence, place, 2),
)


@pytest.mark.sample(12)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda one: str(one.relative_to(CORPUS)))
def test_every_edit_leaves_python(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    evidence = read(text)
    program = evidence.program
    assert program is not None
    (file,) = (one for one in program.files if one.path.suffix == ".py")
    lines = range(1, text.count("\n") + 1, EVERY_SO_MANY)
    made = [make(evidence) for make in WHOLE]
    made += [make(evidence, Place(file.path, line)) for make in AT_A_LINE for line in lines]
    for fix in (fix for fixes in made for fix in fixes):
        if isinstance(fix, Suggestion):
            ast.parse(fix.patch.apply(program).files[0].text)
        else:
            assert "would not be Python" not in fix.reason
