"""Assertions for the tests of your own training code: `from reenact.pytest import assert_learns`.

assert_learns        a model can overfit one batch, and looks at its inputs to do so
assert_no_findings   the rules have nothing to say of a recorded or a running watch

They are plain functions: nothing is registered with pytest, and unittest may use them as well.

one_batch   the experiment, and how Keras does it    torch_batch   how torch does it    judgement   the rules
"""

from reenact.pytest.judgement import assert_learns, assert_no_findings

__all__ = ["assert_learns", "assert_no_findings"]
