"""Pictures of a replayed terminal: the screen as it was, in the middle of the training and at
its end.
"""

from __future__ import annotations

import pytest
import replays

from terminals import OnTerminal


def test_the_pictures_show_the_screen_with_and_without_our_line() -> None:
    ran = OnTerminal(60, 5)
    ran.pieces = [
        b"\x1b[32mepoch 0\x1b[0m done\r\n",
        b"\x1b7training  epoch 1/12  0:12 left\x1b8",
        b"\x1b7\x1b[J\x1b8the report\r\n",
    ]
    screens = replays.screens(ran, "reenact diagnose train.py")
    assert "epoch&#160;1/12" in screens.middle
    assert "the&#160;report" not in screens.middle
    assert "epoch&#160;1/12" not in screens.end
    assert "the&#160;report" in screens.end
    # A colour of its own is a piece of its own.
    assert ">epoch&#160;0<" in screens.middle
    # Nothing is fetched.
    assert "@font-face" not in screens.middle


def test_without_our_line_there_is_no_picture() -> None:
    ran = OnTerminal(60, 5, [b"a crash\r\n"])
    with pytest.raises(ValueError, match="a crash"):
        replays.screens(ran, "reenact diagnose train.py")
