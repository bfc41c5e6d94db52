"""Terms on stages: costs, equalities, inequalities, and the limits of these, hard or soft."""
