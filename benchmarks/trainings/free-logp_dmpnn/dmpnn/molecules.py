"""Virtual compound library with a fragment-style logP."""
from dataclasses import dataclass

import numpy as np

ELEMENTS = ["C", "N", "O", "F", "S", "Cl"]
VALENCE = np.array([4, 3, 2, 1, 2, 1])
FREQUENCY = np.array([0.58, 0.13, 0.13, 0.05, 0.06, 0.05])
ELECTRONEG = np.array([2.55, 3.04, 3.44, 3.98, 2.58, 3.16])
CONTRIB = np.array([0.35, -0.70, -0.85, 0.25, 0.30, 0.55])


@dataclass
class Molecule:
    atoms: np.ndarray   # [n] element index
    bonds: list         # (i, j, order)
    logp: float = 0.0

    def neighbours(self):
        nb = [[] for _ in self.atoms]
        for i, j, order in self.bonds:
            nb[i].append((j, order))
            nb[j].append((i, order))
        return nb


def grow(rng, n_atoms):
    atoms, free, bonds = [0], [4], []
    while len(atoms) < n_atoms:
        open_sites = [k for k, f in enumerate(free) if f > 0]
        k = int(rng.choice(open_sites))
        t = int(rng.choice(len(ELEMENTS), p=FREQUENCY))
        if VALENCE[t] == 1 and sum(free) <= 1:
            t = 0
        order = 1
        if min(free[k], VALENCE[t]) >= 2 and sum(free) > 2 and rng.random() < 0.25:
            order = 2
        atoms.append(t)
        free[k] -= order
        free.append(int(VALENCE[t]) - order)
        bonds.append((k, len(atoms) - 1, order))
        if sum(free) == 0:
            break
    linked = {(i, j) for i, j, _ in bonds}
    for _ in range(int(rng.integers(0, 3))):      # ring closures
        sites = [k for k, f in enumerate(free) if f > 0]
        if len(sites) < 2:
            break
        i, j = sorted(int(s) for s in rng.choice(sites, 2, replace=False))
        if (i, j) not in linked:
            bonds.append((i, j, 1))
            linked.add((i, j))
            free[i] -= 1
            free[j] -= 1
    return Molecule(np.array(atoms), bonds)


def logp(mol, rng):
    nb = mol.neighbours()
    total = 0.0
    for i, t in enumerate(mol.atoms):
        polar = sum(o * (ELECTRONEG[mol.atoms[j]] - ELECTRONEG[t]) for j, o in nb[i])
        second = [mol.atoms[k] for j, _ in nb[i] for k, _ in nb[j] if k != i]
        hetero = sum(1 for s in second if s in (1, 2))
        total += CONTRIB[t] - 0.25 * np.tanh(polar)
        if t in (1, 2):
            total += 0.45 * min(hetero, 2)        # intramolecular H-bond, proximity effect
        elif t == 0:
            total -= 0.15 * (hetero >= 2)
    for i, j, order in mol.bonds:
        if order == 2:                            # carbonyl / imine against plain alkene
            total += -0.8 if {int(mol.atoms[i]), int(mol.atoms[j])} & {1, 2} else 0.4
    return total + 0.05 * rng.standard_normal()


def make_library(n, seed, low=6, high=18):
    rng = np.random.default_rng(seed)
    mols = []
    for _ in range(n):
        mol = grow(rng, int(rng.integers(low, high + 1)))
        mol.logp = logp(mol, rng)
        mols.append(mol)
    return mols
