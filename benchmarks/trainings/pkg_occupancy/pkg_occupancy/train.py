"""Fits the field on a fixed grid of points. The score on these very points is the aim; a finer grid is a side look."""

import torch
import torch.nn.functional as F

from pkg_occupancy.field import Field
from pkg_occupancy.shape import grid


def iou(model, points, truth):
    with torch.no_grad():
        found = model(points) > 0
    truth = truth > 0.5
    return ((found & truth).sum() / (found | truth).sum()).item()


def main(steps=600, batch=512):
    torch.manual_seed(62)
    points, truth = grid(16)
    fine_points, fine_truth = grid(27)
    print(f"{len(points)} points, {truth.mean().item():.3f} of them inside")
    model = Field()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.995)  # one step each batch: 600 in all
    for step in range(1, steps + 1):
        rows = torch.randint(0, len(points), (batch,))
        loss = F.binary_cross_entropy_with_logits(model(points[rows]), truth[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            # Overfitting is the purpose: the weights are the shape's compressed form.
            print(
                f"step {step} loss {loss.item():.5f} lr {schedule.get_last_lr()[0]:.5f} "
                f"IoU on the training points {iou(model, points, truth):.3f}, between them {iou(model, fine_points, fine_truth):.3f}"
            )


if __name__ == "__main__":
    main()
