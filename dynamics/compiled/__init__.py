"""The algorithms as machine code, one state or a batch at a time."""
