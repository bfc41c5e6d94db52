// What a problem is made of, as it is handed to the core.
#pragma once

#include <vector>

#include "horizon.hpp"

namespace trisweep {

// Sizes of the stages, the parent of each (-1 at the root, an earlier one elsewhere), and what is computed on them.
struct Structure {
    std::vector<int> nx, nu, equalities, inequalities, parent;
    std::vector<Block> blocks;
    std::vector<Recentring> recentrings;
    std::vector<int> fixed;  // entries of the root's state that stay where the guess has them
    // Of every entry of z, as in `Result`, the variable whose value it is on its stage, counted from 0; empty: each is one of
    // its own. `turns`: variables that are increments of an angle from where the state is. `durations`: those that are seconds.
    std::vector<int> variables, turns, durations;
    // Of every inequality, in the order of `Result`, the price of what is beyond its limits, linear and quadratic (half of it
    // times the square); a linear one that is infinite: hard. Empty: all are.
    std::vector<double> price, price_growth;
    int shared_parameters = 0, stage_parameters = 0;  // numbers shared by all stages; of all stages in a row
    bool quadratic = false;                           // objective quadratic, rows affine, on all stages
};

}  // namespace trisweep
