from .records import simulate_fleet
from .features import FEATURES, feature_table
from .survival import bin_edges, hazard_targets, masked_hazard_loss, survival_curve, concordance
