"""Bodies, joints and the constraints between them. No cost, no horizon."""
