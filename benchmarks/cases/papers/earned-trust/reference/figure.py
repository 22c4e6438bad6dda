"""Draws the figure of the paper from measured.json: python figure.py"""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 90, 20, 20, 70
LOW, HIGH = 50.0, 100.0
COLOURS = {
    "Cross-entropy": "#7f7f7f",
    "Shrinking Batches": "#d95f02",
    "Slow Targets": "#1b7fbd",
    "Earned Trust": "#117733",
}


def place(epoch: float, accuracy: float, epochs: int) -> tuple[float, float]:
    across = LEFT + (WIDTH - LEFT - RIGHT) * epoch / epochs
    up = (min(max(accuracy, LOW), HIGH) - LOW) / (HIGH - LOW)
    return across, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up


def main() -> None:
    curves = json.loads((HERE / "measured.json").read_text(encoding="utf-8"))["mean_curves"]
    epochs = len(next(iter(curves.values())))
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=20)
    for tick in range(int(LOW), int(HIGH) + 1, 10):
        draw.line([place(0, tick, epochs), place(epochs, tick, epochs)], fill="#dddddd")
        draw.text((LEFT - 12, place(0, tick, epochs)[1]), str(tick), "black", font, anchor="rm")
    for tick in range(0, epochs + 1, 20):
        across, floor = place(tick, LOW, epochs)
        draw.text((across, floor + 8), str(tick), "black", font, anchor="ma")
    corners = [place(0, HIGH, epochs), place(0, LOW, epochs), place(epochs, LOW, epochs)]
    draw.line(corners, fill="black", width=2)
    draw.text(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8), "epoch", "black", font, anchor="ms")
    draw.text((LEFT + 10, TOP), "test accuracy (%)", "black", font, anchor="la")
    for row, (name, colour) in enumerate(COLOURS.items()):
        points = [place(epoch, value, epochs) for epoch, value in enumerate(curves[name], start=1)]
        draw.line(points, fill=colour, width=3)
        down = HEIGHT - BOTTOM - 30 * (len(COLOURS) - row)
        draw.line([(LEFT + 30, down + 12), (LEFT + 70, down + 12)], fill=colour, width=4)
        draw.text((LEFT + 80, down), name, "black", font)
    target = HERE.parent / "paper" / "figures" / "curves.png"
    image.quantize(64).save(target, optimize=True)


if __name__ == "__main__":
    main()
