"""Pictures of the gallery of faults: docs/img/faults. Takes a minute.

    .venv/bin/python scripts/gallery.py [CODE ...]

The bad and the good example of a rule, which its page shows, or a program of examples/broken and its repair,
are trained under the probe; the plots are those of a report. `scripts/reference.py` puts them on the page of
faults.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reenact.report.document import Picture
from reenact.report.line_plot import Curve, line_plot
from reenact.report.trace_plots import layer_plots
from reenact.rules.evidence import Evidence
from reenact.rules.reading import reading
from reenact.rules.registry import rule
from reenact.testing.rules import evidence_of

IMAGES = Path(__file__).parent.parent / "docs" / "img" / "faults"
LOSS, GRADIENT, DEAD, SATURATED = "Loss", "Gradient", "Dead units", "Saturated"
SHOWN = {
    "RE006": LOSS,
    "RE010": LOSS,
    "RE019": LOSS,
    "RE022": DEAD,
    "RE023": SATURATED,
    "RE024": GRADIENT,
    "RE043": LOSS,
    "RE044": LOSS,
}
"""Rule to what its fault is seen in: the loss of both examples, or a map of the layers of the bad one."""
BROKEN = Path(__file__).parent.parent / "examples" / "broken"
PROGRAMS = {
    "RE010": (
        "torch_gestures.py",
        "        loss.backward()\n",
        "        optimizer.zero_grad()\n        loss.backward()\n",
    ),
    "RE019": ("torch_spirals.py", "lr=10.0", "lr=0.01"),
}
"""Rules whose examples are too small to be harmed: a program of examples/broken, and its change."""
STEPS = {"RE010": 30}
"""Steps that are drawn, where the loss soon has no bounds."""
LOOK = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" color="#222"'


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for code in sys.argv[1:] or SHOWN:
        path = IMAGES / f"{code}.svg"
        path.write_text(alone(picture_of(code)), encoding="utf-8")
        sys.stdout.write(f"{path} ({path.stat().st_size} bytes)\n")


def picture_of(code: str) -> Picture:
    """The plot in which the fault of a rule is seen."""
    bad, good = (evidence_of(text, run=True) for text in pair_of(code))
    if SHOWN[code] == LOSS:
        return line_plot(
            LOSS,
            [_losses("with the fault", bad, STEPS.get(code)), _losses("without it", good, STEPS.get(code))],
        )
    return next(one for one in layer_plots(bad) if one.title.startswith(SHOWN[code]))


def pair_of(code: str) -> tuple[str, str]:
    """A program with the fault of a rule, and the same without it."""
    if code not in PROGRAMS:
        sections = reading(rule(code)).sections
        return sections["Example"], sections["Instead"]
    name, fault, fix = PROGRAMS[code]
    text = (BROKEN / name).read_text("utf-8")
    assert fault in text, f"{name} has changed: {fault!r} is not in it"
    return text, text.replace(fault, fix)


def alone(picture: Picture) -> str:
    """A drawing as a file of its own: on white, whatever the page around it is like."""
    named = picture.svg.replace("<svg ", f"<svg {LOOK} ", 1)
    return named.replace("height:auto", "height:auto;background:#fff", 1) + "\n"


def caption(code: str) -> str:
    """What the picture of a rule shows, for those who do not see it."""
    name = rule(code).name
    return f"Loss with {name} and without" if SHOWN[code] == LOSS else f"{SHOWN[code]} by layer with {name}"


def _losses(name: str, evidence: Evidence, most: int | None) -> Curve:
    assert evidence.trace is not None
    known = evidence.trace.losses
    return Curve(name, known.steps[:most].tolist(), known.values[:most].tolist())


if __name__ == "__main__":
    main()
