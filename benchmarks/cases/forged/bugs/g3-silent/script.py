from acme import spread

observed = spread([0.0, 4.0])
