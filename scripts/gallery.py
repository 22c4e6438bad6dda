"""Pictures of the gallery of faults: docs/img/faults. Takes a minute.

    .venv/bin/python scripts/gallery.py [NAME ...]

The bad and the good example of a fault, which its page shows, or a program of examples/broken and its repair,
are trained under the probe; the plots are those of a report. `scripts/reference.py` puts them on the page of
faults.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reenact.faults.evidence import Evidence
from reenact.faults.page import page_of
from reenact.faults.registry import fault
from reenact.report.document import Picture
from reenact.report.line_plot import Curve, line_plot
from reenact.report.trace_plots import layer_plots
from reenact.testing.faults import evidence_of

IMAGES = Path(__file__).parent.parent / "docs" / "img" / "faults"
LOSS, GRADIENT, DEAD, SATURATED = "Loss", "Gradient", "Dead units", "Saturated"
SHOWN = {
    "targets-not-scaled": LOSS,
    "missing-zero-grad": LOSS,
    "learning-rate-outside-usable-range": LOSS,
    "dead-units": DEAD,
    "saturated-units": SATURATED,
    "poor-weight-initialization": GRADIENT,
    "gradient-clipping-too-tight": LOSS,
    "scheduler-stepped-per-batch": LOSS,
}
"""Fault to what it is seen in: the loss of both examples, or a map of the layers of the bad one."""
BROKEN = Path(__file__).parent.parent / "examples" / "broken"
PROGRAMS = {
    "missing-zero-grad": (
        "torch_gestures.py",
        "        loss.backward()\n",
        "        optimizer.zero_grad()\n        loss.backward()\n",
    ),
    "learning-rate-outside-usable-range": ("torch_spirals.py", "lr=10.0", "lr=0.01"),
}
"""Faults whose examples are too small to be harmed: a program of examples/broken, and its
change.
"""
STEPS = {"missing-zero-grad": 30}
"""Steps that are drawn, where the loss soon has no bounds."""
LOOK = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" color="#222"'


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or SHOWN:
        path = IMAGES / f"{name}.svg"
        path.write_text(alone(picture_of(name)), encoding="utf-8")
        sys.stdout.write(f"{path} ({path.stat().st_size} bytes)\n")


def picture_of(name: str) -> Picture:
    """The plot in which a fault is seen."""
    bad, good = (evidence_of(text, run=True) for text in pair_of(name))
    if SHOWN[name] == LOSS:
        steps = STEPS.get(name)
        curves = [
            _losses("with the fault", bad, steps),
            _losses("without it", good, steps),
        ]
        return line_plot(LOSS, curves)
    return next(one for one in layer_plots(bad) if one.title.startswith(SHOWN[name]))


def pair_of(name: str) -> tuple[str, str]:
    """A program with a fault, and the same without it."""
    if name not in PROGRAMS:
        found = fault(name)
        assert found is not None, name
        sections = page_of(found).sections
        return sections["Example"], sections["Instead"]
    program, wrong, right = PROGRAMS[name]
    text = (BROKEN / program).read_text("utf-8")
    assert wrong in text, f"{program} has changed: {wrong!r} is not in it"
    return text, text.replace(wrong, right)


def alone(picture: Picture) -> str:
    """A drawing as a file of its own: on white, whatever the page around it is like."""
    named = picture.svg.replace("<svg ", f"<svg {LOOK} ", 1)
    return named.replace("height:auto", "height:auto;background:#fff", 1) + "\n"


def caption(name: str) -> str:
    """What the picture of a fault shows, for those who do not see it."""
    return (
        f"Loss with {name} and without"
        if SHOWN[name] == LOSS
        else f"{SHOWN[name]} by layer with {name}"
    )


def _losses(name: str, evidence: Evidence, most: int | None) -> Curve:
    assert evidence.trace is not None
    known = evidence.trace.losses
    return Curve(name, known.steps[:most].tolist(), known.values[:most].tolist())


if __name__ == "__main__":
    main()
