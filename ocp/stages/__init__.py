"""The statement as stages: which expressions stand where, and where their numbers lie in the vectors of a solve."""
