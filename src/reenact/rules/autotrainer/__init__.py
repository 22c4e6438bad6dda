"""AutoTrainer (Zhang et al., ICSE 2021): training problems in curves and gradients."""
