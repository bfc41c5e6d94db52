"""The solution: its phases, constraints, diagnosis, report and file."""
