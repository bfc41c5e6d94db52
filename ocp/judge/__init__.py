"""Whether a point is a solution: the KKT conditions, computed apart from the solver."""
