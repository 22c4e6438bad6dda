"""echolm: a word model that learns to repeat a phrase."""
