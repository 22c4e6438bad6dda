"""Synthetic smart-meter portfolio: hourly kWh per household plus a calendar table."""
import numpy as np

HOURS = 24
PUBLIC_HOLIDAYS = (0, 5, 46, 49, 86, 94, 106, 117, 140, 163, 190, 214, 226, 245, 262, 275, 303, 331)


def calendar_table(n_days, first_weekday=2):
    """One row per hour: sin/cos of hour, day-off flag, Saturday flag, sin/cos of day of year."""
    hours = np.arange(n_days * HOURS)
    day = hours // HOURS
    hod = hours % HOURS
    weekday = (day + first_weekday) % 7
    holiday = np.isin(day % 365, PUBLIC_HOLIDAYS)
    off = (weekday >= 5) | holiday
    table = np.stack([
        np.sin(2 * np.pi * hod / 24),
        np.cos(2 * np.pi * hod / 24),
        off.astype(float),
        (weekday == 5).astype(float),
        np.sin(2 * np.pi * day / 365),
        np.cos(2 * np.pi * day / 365),
    ], axis=1)
    return table.astype(np.float32), off


def bump(hod, centre, width):
    return np.exp(-0.5 * ((hod - centre) / width) ** 2)


def simulate(n_households, n_days, rng):
    cal, off = calendar_table(n_days)
    hod = np.arange(n_days * HOURS) % HOURS
    day = np.arange(n_days * HOURS) // HOURS
    winter = 0.5 * (1 + np.cos(2 * np.pi * (day - 15) / 365))
    cold = np.zeros(n_days)
    for d in range(1, n_days):
        cold[d] = 0.8 * cold[d - 1] + 0.25 * rng.standard_normal()
    load = np.empty((n_households, n_days * HOURS), dtype=np.float32)
    for h in range(n_households):
        size = rng.lognormal(-0.2, 0.35)
        wake = rng.normal(7.0, 0.6)
        home = rng.normal(18.8, 0.7)
        at_home = rng.uniform(0.7, 1.3)
        working = 1.1 * bump(hod, wake, 1.0) + 1.6 * bump(hod, home, 1.9)
        weekend = 0.9 * bump(hod, wake + 2.5, 1.6) + at_home * bump(hod, 13.0, 2.4) + 1.3 * bump(hod, home - 0.4, 2.4)
        shape = np.where(off, weekend, working)
        heating = 0.5 * winter * (1 + 0.4 * cold[day])
        kwh = size * (0.25 + shape + heating)
        load[h] = kwh * rng.lognormal(0, 0.16, kwh.shape)
    return load, cal
