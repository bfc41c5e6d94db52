"""What the user says: a problem's variables, dynamics, costs, constraints and the phases that follow."""
