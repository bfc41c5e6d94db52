// A stage of the sweep, and the vectors that run over all of them.
#pragma once

#include <vector>

#include "elimination.hpp"
#include "light_rows.hpp"
#include "substitution.hpp"

namespace trisweep {

// Right-hand sides, one slice a stage. The residual of the KKT system has the same shape.
struct Vectors {
    double* h;        // stationarity
    double* b;        // dynamics, at the child
    double* g;        // equalities
    double* initial;  // the root's state
};

// The unknowns, one slice a stage.
struct Unknowns {
    double* z;
    double* lambda;
    double* eta;
};

struct SmallSweep;

struct RiccatiStage {
    int nx, nu, ng, parent;
    int up, n;             // where x starts in z; padded length of z
    int at_z, at_x, at_g;  // offsets of this stage's slices in Vectors and Unknowns
    int first_child = -1, sibling = -1;
    int at_rows = 0;                   // where this stage's passed rows start among the parent's rows
    double *H, *E, *G;                 // (n, n) full; (n of the parent, nx); (n, ng)
    const double* diagonal = nullptr;  // (n) what the sweep adds to the diagonal of H
    int penalties = 0;                 // columns of C and C S, (n, penalties): what is swept is H + C S C'
    const double* C = nullptr;
    double* CS = nullptr;
    LightEdge light;  // rows of E
    Elimination sweep;
    Substitution substitution;
    const SmallSweep* small = nullptr;  // its part of the sweep without rows, where there is one for its sizes
    const SmallSweep* left = nullptr;   // the same for what is left of it after substitution
    double* eta_x;                      // multipliers of the rows this stage passes to its parent
};

}  // namespace trisweep
