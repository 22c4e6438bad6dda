"""Beta-VAE on digits with KL annealing and free bits."""
