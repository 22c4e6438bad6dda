import torch
from torch import nn


class DMPNN(nn.Module):
    """Directed-bond message passing network (Yang et al. 2019)."""

    def __init__(self, atom_dim, bond_dim, hidden=64, depth=3):
        super().__init__()
        self.depth = depth
        self.w_in = nn.Linear(atom_dim + bond_dim, hidden)
        self.w_msg = nn.Linear(hidden, hidden)
        self.w_out = nn.Linear(atom_dim + hidden, hidden)
        self.ffn = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, b):
        n_atoms = b.atom_x.size(0)
        h0 = self.w_in(torch.cat([b.atom_x[b.src], b.bond_x], 1))
        h = h0.relu()
        for _ in range(self.depth - 1):
            incoming = h.new_zeros(n_atoms, h.size(1)).index_add_(0, b.dst, h)
            message = incoming[b.src] - h[b.rev]
            h = (h0 + self.w_msg(message)).relu()
        incoming = h.new_zeros(n_atoms, h.size(1)).index_add_(0, b.dst, h)
        atom_h = self.w_out(torch.cat([b.atom_x, incoming], 1)).relu()
        atom_out = self.ffn(atom_h).squeeze(1)
        return atom_out.new_zeros(len(b.y)).index_add_(0, b.mol_id, atom_out)
