"""Forward dynamics under any constraints, loops and dependent rows included, by proximal iterations."""
