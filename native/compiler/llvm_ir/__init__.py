"""A straight-line program as LLVM IR."""
