// A robot as the tables that the recursions over its bodies walk: a tree of bodies, and rows that hold frames of bodies.
#pragma once

#include <vector>

namespace trisweep {

// Rows K a = k (a by 6) on the acceleration of a frame that is fixed to a body, against the ground.
struct Held {
    int body = 0;
    std::vector<double> R, p;      // the frame on the body: rotation (9), row after row, and origin
    std::vector<double> K;         // rows of 6, angular part first
    std::vector<double> softness;  // of each row; 0: hard
    std::vector<double> least;     // of each row: what must be left of it in J M^-1 J' to be more than rounding
    bool classical = false;        // the linear part is the classical acceleration of the frame's origin
    double damping = 0.0;          // 2 / T of Baumgarte's stabilisation
    double stiffness = 0.0;        // 1 / T^2, if there is a target
    std::vector<double> target_R;  // the pose to keep; empty: only the position
    std::vector<double> target_p;

    int rows() const { return int(softness.size()); }
};

// Rows between bodies of the tree. The recursions know nothing of them but which dofs they meet, with all that carries those,
// the furthest from the root first; compiled code has the rest (`Beside`). They may depend on other rows.
struct ClosedLoop {
    std::vector<int> dofs;
    std::vector<double> least;  // of each row: less than that of a pivot is rounding
    int rows() const { return int(least.size()); }
};

struct Tree {
    std::vector<int> parent;  // of each body, an earlier one; -1: the world
    std::vector<std::vector<int>>
        axes;                      // of each joint: coordinate axes of its body along which it moves, angular 0 to 2
    std::vector<double> inertia;   // of each body in its frame: m, h (3), tensor about its origin (xx yy zz xy xz yz)
    std::vector<double> armature;  // of each dof
    std::vector<double> gravity;   // (3)
    std::vector<Held> held;
    std::vector<ClosedLoop> loops;

    int bodies() const { return int(parent.size()); }
    int dofs() const { return int(armature.size()); }
    int rows() const {
        int count = 0;
        for (const Held& each : held) count += each.rows();
        return count;
    }
    int loop_rows() const {
        int count = 0;
        for (const ClosedLoop& each : loops) count += each.rows();
        return count;
    }
    int unknowns() const { return dofs() + rows() + loop_rows(); }
    // What the compiled code hands over: of each joint, where it carries its body, R (9, column after column) and p (3); v,
    // tau; the demands k of the held rows.
    int arguments() const { return 12 * bodies() + 2 * dofs() + rows(); }
};

}  // namespace trisweep
