"""Forward dynamics under constraints that are met exactly (or softened once): PV, LTL, Gauss' principle as a tree."""
