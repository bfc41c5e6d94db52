"""The solution: its phases, constraints, diagnosis and report; `files` keeps it."""
