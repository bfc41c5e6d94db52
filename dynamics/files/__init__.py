"""Where models come from: lines of Python, URDF, MJCF."""
