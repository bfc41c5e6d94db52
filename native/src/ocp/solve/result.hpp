// What a solve hands back: plain vectors in the caller's order, stage after stage and without gaps, in the units of the
// statement.
#pragma once

#include <vector>

#include "interior_point/record.hpp"
#include "interior_point/status.hpp"
#include "ocp/judge/verdict.hpp"
#include "ocp/stages/horizon.hpp"

namespace trisweep {

struct Result {
    Status status = Status::stalled;
    std::vector<double> z;  // (u, x) of all stages
    std::vector<double> w;  // multipliers of the bounds of z: positive on an upper, negative on a lower one
    std::vector<double> y;  // multipliers of the rows: dynamics of every stage but the root, equalities, inequalities
    std::vector<double> stage_parameters;  // with the places that states on manifolds have come to
    std::vector<double> gains;    // K (nu, nx) by rows of every stage's feedback du = K dx, at the last direction
    Verdict verdict;              // the judge's word on the point
    std::vector<Record> records;  // one an iteration
    int iterations = 0;
    double seconds = 0.0;
    Times times;
    Fault fault;  // where a number was not finite
};

}  // namespace trisweep
