"""From numbers to an answer: the solver, its settings and inputs, the judge, and rivals behind the same statement."""
