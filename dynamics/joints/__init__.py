"""The kinds of joint, and the configuration manifold that they make together."""
