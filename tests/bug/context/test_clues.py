"""What reports point at, in the forms in which people write them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from reenact.bug.context.clues import ReportedFrame, locate_frames, read_clues
from reenact.bug.context.index import CodeIndex


def frame(path: str, line: int, function: str = "") -> ReportedFrame:
    return ReportedFrame(PurePosixPath(path), line, function)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '  File "/a/b/net.py", line 12, in Net.step',
            frame("/a/b/net.py", 12, "step"),
        ),
        ('File "C:\\me\\net.py", line 3', frame("C:/me/net.py", 3)),
        ("File ~/b/net.py:7, in fit(self, x)", frame("~/b/net.py", 7, "fit")),
        (
            "~/b/net.py in fit(self)\n      6     a\n----> 7     b",
            frame("~/b/net.py", 7, "fit"),
        ),
        ("b/net.py:40: ValueError", frame("b/net.py", 40)),
    ],
)
def test_frames_in_every_notation(text: str, found: ReportedFrame) -> None:
    assert found in read_clues(f"it breaks\n\n{text}\n").frames


def test_frames_come_in_order_and_once() -> None:
    text = 'x\nFile "a.py", line 1, in f\nFile "b.py", line 2, in g\nFile "a.py", line 1, in f\n'
    assert read_clues(text).frames == (frame("a.py", 1, "f"), frame("b.py", 2, "g"))


def test_names_of_code_and_prose(report: str) -> None:
    clues = read_clues(report)
    assert clues.names["Gate"] == clues.names["sharpness"] == 1.0
    assert not {"ones", "zeros"} & set(clues.names), "they are torch's"
    assert clues.imported == {"Gate": "mininet.Gate", "torch": "torch"}
    assert clues.keywords == {"sharpness", "mask"}
    assert clues.messages == ("the mask lets nothing through, expected one open position",)
    assert "os" not in clues.words
    assert "linux" not in clues.words
    assert clues.words["gate"] > clues.words["depend"]


def test_names_of_the_reporter_s_own_code_are_not_the_project_s() -> None:
    code = "def forward(x): ...\nclass MyNet: ...\nnet_one = build_net(MyNet)\nforward(net_one)\n"
    assert set(read_clues(f"x\n```python\n{code}```\n").names) == {"build_net"}


def test_prose_names() -> None:
    names = read_clues(
        "The `Net.fit` of HTTPClient calls early_stop and model.run_all; reset() too"
    ).names
    assert {"Net", "fit", "HTTPClient", "early_stop", "run_all", "reset"} <= set(names)
    assert not {"The", "model", "calls", "too"} & set(names)


def test_prompts_broken_code_and_quotations_are_read() -> None:
    text = "x\n\n>>> from a.b import C\n>>> import d as e\n\n"
    text += "```\nimport f\nfrom g import h, i\nthis breaks (\n```\n"
    assert read_clues(text).imported == {
        "C": "a.b.C",
        "e": "d",
        "f": "f",
        "h": "g.h",
        "i": "g.i",
    }


def test_forms_progress_bars_and_versions_are_no_words() -> None:
    text = (
        "heading\n<!-- please fill in -->\n- [x] searched everywhere\nnumpy==1.2\n* pandas 2.0.1\n"
        "- Platform: Solaris\n 45%|####    | 9/20 [00:01<00:02]\nwords\n"
    )
    assert set(read_clues(text).words) == {"head", "word"}


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "1" * 100_000,
        "a.b/" * 30_000,
        "\n" * 100_000,
        "a 1" + ".1" * 50_000 + " x y z",
        "`" * 100_000,
        '```\nFile "' * 10_000,
        "x.py in f()\n" * 10_000,
        "<!--" * 30_000,
        "_" * 100_000,
        "from a import b\n" * 10_000,
    ],
)
def test_reports_made_to_be_slow_are_read(text: str) -> None:
    assert read_clues(f"some words\n{text}").words["word"] > 0


def located(code: CodeIndex, *frames: ReportedFrame) -> list[str]:
    return [chunk.name for chunk in locate_frames(code, frames)]


def test_frames_of_another_machine_are_found_by_the_end_of_their_path(
    code: CodeIndex,
) -> None:
    assert located(code, frame("/x/site-packages/mininet/layers/gate.py", 16, "forward")) == [
        "Gate"
    ]
    assert located(code, frame("/checkout/src/mininet/maths.py", 5, "squash")) == ["squash"]
    assert located(code, frame("maths.py", 11)) == ["_bounded"]


def test_a_line_that_has_moved_is_found_by_its_function(code: CodeIndex) -> None:
    assert located(code, frame("mininet/maths.py", 900, "squash")) == ["squash"]
    assert located(code, frame("mininet/maths.py", 5, "_bounded")) == ["_bounded"]


def test_files_of_others_are_not_ours(code: CodeIndex) -> None:
    assert located(code, frame("/x/site-packages/other/layers/gate.py", 16, "forward")) == []
    assert located(code, frame("/usr/lib/python3.11/maths.py", 5, "squash")) == []
    assert located(code, frame("/x/__init__.py", 1, "<module>")) == []
    assert located(code, frame("nowhere.py", 1)) == []


def test_the_innermost_frame_comes_first(code: CodeIndex) -> None:
    frames = (
        frame("mininet/layers/gate.py", 16, "forward"),
        frame("mininet/maths.py", 6, "squash"),
    )
    found = locate_frames(code, frames)
    assert [(chunk.name, depth) for chunk, (depth, _) in found.items()] == [
        ("squash", 0),
        ("Gate", 1),
    ]


def test_a_link_to_lines_counts_as_the_innermost_frame(code: CodeIndex) -> None:
    link = "https://host.example/o/mininet/blob/3f2c/src/mininet/layers/gate.py#L16-L20"
    clues = read_clues(
        f'It breaks\n\nHere: {link}\n\n  File "src/mininet/loops/trainer.py", line 12, in run\n'
    )
    assert clues.frames[-1] == frame("src/mininet/layers/gate.py", 16)
    found = locate_frames(code, clues.frames)
    assert [(chunk.path.name, rank) for chunk, (rank, _) in found.items()] == [
        ("gate.py", 0),
        ("trainer.py", 1),
    ]


def test_words_of_addresses_are_nobody_s() -> None:
    clues = read_clues("It breaks\n\nSee https://host.example/trainer/epochs_loop.html and Gate.\n")
    assert "gate" in clues.words
    assert not {"trainer", "epochs", "loop", "host"} & set(clues.words)
    assert "epochs_loop" not in clues.names


def test_frames_of_libraries_name_nothing_of_the_project() -> None:
    text = (
        'It breaks\n\n  File "/e/lib/python3.11/site-packages/torch/optim/trainer.py", line 3, in '
        "gate_step\n"
    )
    clues = read_clues(text)
    assert not {"trainer", "gate", "step"} & set(clues.words)
    assert "gate_step" not in clues.names


def test_what_every_script_says_names_nothing_of_the_project() -> None:
    """`print` of a report was taken for Image.print, `x.shape[0]` for a distribution's shape."""
    report = (
        "Colours are wrong\n\nThe output of `x.shape` is odd.\n\n```python\n"
        "import matplotlib.pyplot as plt\nfrom acme import warp\n"
        "out = warp(torch.tensor([1.0]), size=3)\n"
        "print(out.shape)\nplt.imshow(out)\nplt.show()\n```\n"
    )
    names = read_clues(report).names
    assert "warp" in names
    assert not {"print", "tensor", "shape", "imshow", "show", "plt"} & set(names)
    assert "shape" in read_clues("Odd\n\nThe method `shape` of a mask is wrong").names
