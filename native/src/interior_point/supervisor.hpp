// Who runs an interior point: looks on, may end it, and helps where it finds no step.
#pragma once

#include "record.hpp"
#include "status.hpp"

namespace trisweep {

class Supervisor : public Watcher {
public:
    // Called where no step is acceptable. `Status::restored`: the point is a better one, with its f and r; otherwise how the
    // solve ends.
    virtual Status restore() = 0;
    // Asked once an iteration: whether the point is a solution by another measure than the interior point's own.
    virtual bool confirmed() { return false; }
    // Asked once an iteration, of a point that solves nothing yet: whether it serves all the same.
    virtual bool good_enough() { return false; }
};

}  // namespace trisweep
