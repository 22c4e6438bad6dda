import torch
from torch.nn import functional as F

from .towers import Matcher
from .world import World


def symmetric_info_nce(logits, objects):
    # the same object may stand in a batch twice: then every copy of it is a right answer
    same = (objects[:, None] == objects[None]).all(-1).float()
    target = same / same.sum(1, keepdim=True)
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target))


@torch.no_grad()
def retrieval(model, world, objects):
    model.eval()
    catalogue = world.all_objects()
    logits = model(world.sense(objects), catalogue)
    gold = (objects[:, None] == catalogue[None]).all(-1).float().argmax(1)
    rank = (logits > logits.gather(1, gold[:, None])).sum(1)
    return (rank == 0).float().mean().item(), (rank < 5).float().mean().item()


def main():
    torch.manual_seed(4)
    world = World(seed=4)
    objects = world.all_objects()
    objects = objects[torch.randperm(len(objects))]
    seen, unseen = objects[:140], objects[140:]          # 40 combinations are kept for the test
    model = Matcher()
    decay = [p for p in model.parameters() if p.ndim >= 2]
    rest = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=1e-3)
    steps = 1200
    for step in range(1, steps + 1):
        model.train()
        batch = seen[torch.randint(len(seen), (96,))]
        loss = symmetric_info_nce(model(world.sense(batch), batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            top1, top5 = retrieval(model, world, unseen.repeat(10, 1))
            print(f"step {step:4d}  loss {loss.item():.3f}  scale {model.log_scale.exp().item():.1f}  "
                  f"unseen: top-1 {top1:.3f}  top-5 {top5:.3f}  (chance {1 / 180:.3f})")


if __name__ == "__main__":
    main()
