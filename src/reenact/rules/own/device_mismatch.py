"""RE904 device-mismatch

What
    Tensors on two devices meet: the model was moved and the data was not, or the reverse.
Why
    A computation happens on one device; tensors are not moved by themselves.
Symptom
    The program ends with an exception that speaks of devices.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to("meta")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to("meta")
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Safe: move what was forgotten.
Sources
    Documentation of torch.nn.Module.to.
"""

from reenact.rules.own._crash import CrashRule
from reenact.rules.own._crash_kind import CrashKind


class DeviceMismatch(CrashRule):
    code, name, family = "RE904", "device-mismatch", "reenact"
    kind = CrashKind.DEVICE
    why = "Tensors are on different devices: move both with .to(device)."
