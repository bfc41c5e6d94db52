"""Forward dynamics as implicit nodes, for exact derivatives by `adjoint`."""
