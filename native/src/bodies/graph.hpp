// What Python hands over of a stage whose rows rest on robots: tables of the robots and compiled functions around them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compiled.hpp"
#include "tree.hpp"

namespace trisweep {

// A compiled function of the inputs of a stage, y, and what its name in `Graph` says; one output of `size` numbers.
struct Compiled {
    Evaluate address = nullptr;
    std::int64_t work = 0;
    int size = 0;
};

// Terms of a node's residual that its recursions leave to the compiler: those of its loops. None where `matrix` has no size.
struct Beside {
    Compiled
        matrix;  // J of the loops' rows, row after row at `ClosedLoop::dofs`, then what the rows lack where nothing accelerates
    Compiled slopes;     // nonzeros of their slope by (increments of q, v)
    Compiled curvature;  // with mu: nonzeros of the lower triangle of their second derivatives by those and y
    std::vector<int> slope_rows, slope_columns, curvature_rows, curvature_columns;
};

// What Python hands over. Patterns are pairs (row, column).
struct Graph {
    int controls = 0, variables = 0;  // of u, of (u, x)
    int rows = 0;                     // of F
    std::vector<Tree> trees;          // of the nodes
    std::vector<Compiled> arguments;  // of each node: what its recursions are given
    std::vector<Beside> beside;       // of each node
    Compiled values;                  // F
    Compiled slopes;                  // nonzeros of the Jacobian of (F, w_1, ..., w_K) by z
    Compiled curvature;               // with weights and nu: nonzeros of the lower triangle of L,zz
    std::vector<int> slope_rows, slope_columns, curvature_rows, curvature_columns;
    bool exact = true;  // whether H has the curvature of the nodes
};

}  // namespace trisweep
