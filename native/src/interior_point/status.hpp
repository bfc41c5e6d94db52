// How a solve ended.
#pragma once

#include <utility>

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

// What a solve may end with, by the words of `ocp/answer/status.py`.
inline constexpr std::pair<const char*, Status> STATUSES[] = {
    {"solved", Status::solved},
    {"infeasible", Status::infeasible},
    {"iteration_limit", Status::iteration_limit},
    {"time_limit", Status::time_limit},
    {"interrupted", Status::interrupted},
    {"not_finite", Status::not_finite},
    {"stalled", Status::stalled},
    {"unbounded", Status::unbounded},
    {"not_minimal", Status::not_minimal},
};

}  // namespace trisweep
