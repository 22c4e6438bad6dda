"""Pictures of the gallery of faults: docs/img/faults. Takes a minute.

    .venv/bin/python scripts/gallery.py [CODE ...]

The bad and the good example of a rule, which its page shows, are trained under the probe; the plots are those
of a report. `scripts/reference.py` puts them on the page of faults.
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
    "RE022": DEAD,
    "RE023": SATURATED,
    "RE024": GRADIENT,
    "RE043": LOSS,
    "RE044": LOSS,
}
"""Rule to what its fault is seen in: the loss of both examples, or a map of the layers of the bad one."""
LOOK = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" color="#222"'


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for code in sys.argv[1:] or SHOWN:
        path = IMAGES / f"{code}.svg"
        path.write_text(alone(picture_of(code)), encoding="utf-8")
        sys.stdout.write(f"{path} ({path.stat().st_size} bytes)\n")


def picture_of(code: str) -> Picture:
    """The plot in which the fault of a rule is seen."""
    bad, good = (evidence_of(reading(rule(code)).sections[name], run=True) for name in ("Example", "Instead"))
    if SHOWN[code] == LOSS:
        return line_plot(LOSS, [_losses("with the fault", bad), _losses("without it", good)])
    return next(one for one in layer_plots(bad) if one.title.startswith(SHOWN[code]))


def alone(picture: Picture) -> str:
    """A drawing as a file of its own: on white, whatever the page around it is like."""
    named = picture.svg.replace("<svg ", f"<svg {LOOK} ", 1)
    return named.replace("height:auto", "height:auto;background:#fff", 1) + "\n"


def caption(code: str) -> str:
    """What the picture of a rule shows, for those who do not see it."""
    name = rule(code).name
    return f"Loss with {name} and without" if SHOWN[code] == LOSS else f"{SHOWN[code]} by layer with {name}"


def _losses(name: str, evidence: Evidence) -> Curve:
    assert evidence.trace is not None
    known = evidence.trace.losses
    return Curve(name, known.steps.tolist(), known.values.tolist())


if __name__ == "__main__":
    main()
