"""Numbers and symbols alike: arrays, factorizations, spatial vectors, quaternions."""
