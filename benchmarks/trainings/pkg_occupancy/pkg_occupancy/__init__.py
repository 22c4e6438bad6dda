"""Learn one shape as a function of place: a coordinate network, meant to memorise."""
