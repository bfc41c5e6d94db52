// What is known of the user's functions at a point.
#pragma once

namespace trisweep {

// Where a number was not finite: which row of which block (-1: a derivative), and the stage.
struct Fault {
    int block = -1, stage = -1, row = -1;
};

// Values at a point: objective, F(z) - x_child at the child, equalities, inequalities; all scaled.
struct Values {
    double objective;
    double *b, *g, *c;
};

// Multipliers of the scaled rows, in the layout of the values, and of the scaled objective.
struct Multipliers {
    const double *lambda, *eta, *nu;
    double objective = 1.0;
};

}  // namespace trisweep
