"""Molecule -> tensors for directed-bond message passing."""
from dataclasses import dataclass

import torch

from .molecules import ELEMENTS


@dataclass
class MolGraph:
    atom_x: torch.Tensor   # [n_atoms, F]
    bond_x: torch.Tensor   # [n_directed, B]
    src: torch.Tensor
    dst: torch.Tensor
    rev: torch.Tensor      # index of the opposite direction of each bond
    y: float


@dataclass
class MolBatch:
    atom_x: torch.Tensor
    bond_x: torch.Tensor
    src: torch.Tensor
    dst: torch.Tensor
    rev: torch.Tensor
    mol_id: torch.Tensor
    y: torch.Tensor


def featurize(mol):
    n = len(mol.atoms)
    degree = torch.zeros(n)
    src, dst = [], []
    for i, j, _ in mol.bonds:
        src += [i, j]
        dst += [j, i]
        degree[i] += 1
        degree[j] += 1
    one_hot = torch.nn.functional.one_hot(torch.as_tensor(mol.atoms), len(ELEMENTS)).float()
    atom_x = torch.cat([one_hot, degree[:, None] / 4], 1)
    orders = torch.tensor([order for _, _, order in mol.bonds])
    bond_x = torch.nn.functional.one_hot(orders - 1, 2).float().repeat_interleave(2, 0)
    rev = torch.arange(len(src)) ^ 1
    return MolGraph(atom_x, bond_x, torch.tensor(src), torch.tensor(dst), rev, mol.logp)


def collate(graphs):
    src, dst, rev, mol_id = [], [], [], []
    atom_off = bond_off = 0
    for k, g in enumerate(graphs):
        n_atoms, n_bonds = len(g.atom_x), len(g.bond_x)
        src.append(g.src + atom_off)
        dst.append(g.dst + atom_off)
        rev.append(g.rev + bond_off)
        mol_id.append(torch.full((n_atoms,), k))
        atom_off += n_atoms
        bond_off += n_bonds
    return MolBatch(
        atom_x=torch.cat([g.atom_x for g in graphs]),
        bond_x=torch.cat([g.bond_x for g in graphs]),
        src=torch.cat(src), dst=torch.cat(dst), rev=torch.cat(rev),
        mol_id=torch.cat(mol_id),
        y=torch.tensor([g.y for g in graphs], dtype=torch.float32),
    )
