"""Synthetic wind farm: gearboxes, their installation dates, event logs and outcome at the data extract."""
from dataclasses import dataclass

import numpy as np

EXTRACT_DAY = 3000
KINDS = ("alarm", "oil_change", "stop")


@dataclass
class Fleet:
    installed: np.ndarray      # calendar day of installation
    rating: np.ndarray         # MW
    wind: np.ndarray           # mean wind speed at the site
    lifetime: np.ndarray       # days in service, until failure or the extract
    failed: np.ndarray
    log_unit: np.ndarray
    log_day: np.ndarray        # calendar day of the log entry
    log_kind: np.ndarray


def simulate_fleet(n, seed):
    rng = np.random.default_rng(seed)
    installed = rng.integers(0, 2300, n)
    rating = rng.choice([2.0, 3.0, 4.5], n)
    wind = rng.normal(7.5, 1.0, n)
    wear = rng.normal(0.0, 1.0, n)
    log_scale = 7.2 - 0.28 * wear - 0.12 * (wind - 7.5) - 0.08 * (rating - 3.0)
    life = np.exp(log_scale) * rng.weibull(2.2, n)
    in_service = EXTRACT_DAY - installed
    lifetime = np.minimum(life, in_service).astype(np.int64) + 1
    failed = life <= in_service

    unit, day, kind = [], [], []
    rates = np.stack([np.exp(-3.9 + 0.5 * wear), np.full(n, 1 / 60.0), np.exp(-4.2 + 0.35 * wear)], axis=1)
    for k in range(len(KINDS)):
        counts = rng.poisson(rates[:, k] * lifetime)
        owner = np.repeat(np.arange(n), counts)
        unit.append(owner)
        day.append(installed[owner] + (rng.random(len(owner)) * lifetime[owner]).astype(np.int64))
        kind.append(np.full(len(owner), k))
    return Fleet(installed, rating, wind, lifetime, failed,
                 np.concatenate(unit), np.concatenate(day), np.concatenate(kind))
