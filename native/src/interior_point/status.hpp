// How a solve ended.
#pragma once

namespace trisweep {

enum class Status {
    solved,
    infeasible,
    iteration_limit,
    time_limit,
    interrupted,
    not_finite,
    stalled,
    unbounded,
    not_minimal,
    // What parts of the core tell each other; no solve ends with these.
    restored,  // restoration has found a point to go on from
    outgrown,  // the problem is no longer the one that was scaled: start anew
};

}  // namespace trisweep
