"""Trees of bodies without constraints: kinematics, inverse and forward dynamics, mass matrix, energy."""
