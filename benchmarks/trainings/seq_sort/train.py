"""Learn to sort short digit strings with an LSTM encoder-decoder."""
import torch
import torch.nn.functional as F

from model import Seq2Seq

DIGITS, LENGTH = 10, 7


def strings(n, gen):
    src = torch.randint(1, DIGITS + 1, (n, LENGTH), generator=gen)
    return src, src.sort(dim=1).values


def evaluate(model, src, tgt):
    model.eval()
    out = model.decode(src, LENGTH)
    return (out == tgt).float().mean().item(), (out == tgt).all(dim=1).float().mean().item()


def main():
    torch.manual_seed(63)
    gen = torch.Generator().manual_seed(64)
    src, tgt = strings(8000, gen)
    val_src, val_tgt = strings(1000, gen)

    model = Seq2Seq(DIGITS + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.4)
    for epoch in range(10):
        model.train()
        losses = []
        for idx in torch.randperm(len(src)).split(64):
            logits = model(src[idx], tgt[idx])
            loss = F.cross_entropy(logits.reshape(-1, DIGITS + 1), tgt[idx].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        tok, exact = evaluate(model, val_src, val_tgt)
        print(f"epoch {epoch + 1:2d} | loss {sum(losses) / len(losses):.4f} | token acc {tok:.3f} | exact {exact:.3f}", flush=True)


if __name__ == "__main__":
    main()
