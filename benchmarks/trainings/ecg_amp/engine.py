import torch


def global_norm(params):
    return torch.stack([p.grad.detach().float().norm() for p in params if p.grad is not None]).norm()


def clip_gradients(params, max_norm):
    """Rescale the accumulated gradients so that their global norm stays below max_norm."""
    params = [p for p in params if p.grad is not None]
    total = global_norm(params)
    coef = total / max_norm
    if coef < 1.0:
        for p in params:
            p.grad.mul_(coef)
    return total


def train_epoch(model, loader, criterion, optimizer, scaler, device, amp_dtype, accum, max_norm):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    loss_sum = norm_sum = 0.0
    n = updates = 0
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        with torch.autocast(device.type, dtype=amp_dtype):
            loss = criterion(model(x).float(), y)
        scaler.scale(loss / accum).backward()
        loss_sum += loss.item() * len(y)
        n += len(y)
        if (i + 1) % accum == 0:
            scaler.unscale_(optimizer)
            norm_sum += clip_gradients(model.parameters(), max_norm).item()
            updates += 1
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    return loss_sum / n, norm_sum / updates


@torch.no_grad()
def validate(model, loader, criterion, device):
    model.eval()
    loss_sum = correct = n = 0
    for x, y in loader:
        out = model(x.to(device))
        loss_sum += criterion(out, y.to(device)).item() * len(y)
        correct += (out.argmax(-1).cpu() == y).sum().item()
        n += len(y)
    return loss_sum / n, correct / n
