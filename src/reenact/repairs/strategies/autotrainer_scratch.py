"""AutoTrainer that trains from the start after each change."""

from reenact.repairs.strategies.autotrainer import FromScratch

STRATEGY = FromScratch
