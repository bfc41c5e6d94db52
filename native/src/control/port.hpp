// What a user gives and takes by name: a variable or a parameter as rows, one a stage, and the places of its entries in the
// vectors of a solve. In a configuration some entries form groups, unit quaternions or (cos, sin) pairs: a group is the anchor,
// among the parameters of its stage, of increments that stand in z (`ocp/statement/manifold.py`).
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace trisweep {

// The vectors of a solve: z, and the parameters that stages share or have of their own.
struct Numbers {
    std::vector<double> z, shared, stage;
};

struct Port {
    std::string name;
    int rows = 1, size = 0;
    std::vector<int> z, shared, stage;  // of every entry its place in one of these, -1 in the others
    std::vector<int> groups;            // in a row: the first entry of each, and the one after its last
    std::vector<int> increments;        // of all groups, row after row: places in z

    int entries() const { return rows * size; }

    // Whether these are finite numbers, and every group has a direction.
    bool accepts(const double* values) const {
        for (int i = 0; i < entries(); ++i)
            if (!std::isfinite(values[i])) return false;
        bool good = true;
        each_group([&](int at, int length, int) { good &= norm(values + at, length) > LEAST_NORM; });
        return good;
    }

    // Into their places; groups of norm 1, without increments.
    void put(const double* values, Numbers& to) const {
        for (int i = 0; i < entries(); ++i) {
            if (z[i] >= 0) to.z[z[i]] = values[i];
            if (shared[i] >= 0) to.shared[shared[i]] = values[i];
            if (stage[i] >= 0) to.stage[stage[i]] = values[i];
        }
        for (const int i : increments) to.z[i] = 0.0;
        each_group([&](int at, int length, int) {
            const double size = norm(values + at, length);
            for (int i = at; i < at + length; ++i) to.stage[stage[i]] = values[i] / size;
        });
    }

    // From their places, where there are no increments.
    void get(const Numbers& from, double* values) const {
        for (int i = 0; i < entries(); ++i)
            values[i] = z[i] >= 0 ? from.z[z[i]] : shared[i] >= 0 ? from.shared[shared[i]] : from.stage[stage[i]];
    }

    // The increments of these groups about other anchors, into z.
    void turn(const double* values, const double* anchors, std::vector<double>& z_to) const {
        each_group([&](int at, int length, int first) {
            const double *unit = values + at, *about = anchors + stage[at];
            double turned[3];
            length == 4 ? turn_of_quaternion(about, unit, turned) : turn_of_pair(about, unit, turned);
            for (int i = 0; i + 1 < length; ++i) z_to[increments[first + i]] = turned[i];
        });
    }

private:
    static constexpr double LEAST_NORM = 1e-6;

    // visit(first entry, length, first of its increments)
    template <class Visit>
    void each_group(const Visit& visit) const {
        int increment = 0;
        for (int row = 0; row < rows; ++row)
            for (std::size_t i = 0; i + 1 < groups.size(); i += 2) {
                const int length = groups[i + 1] - groups[i];
                visit(row * size + groups[i], length, increment);
                increment += length - 1;
            }
    }

    static double norm(const double* x, int length) {
        double sum = 0.0;
        for (int i = 0; i < length; ++i) sum += x[i] * x[i];
        return std::sqrt(sum);
    }

    static void turn_of_pair(const double* a, const double* u, double* d) {
        const double c = a[0] * u[0] + a[1] * u[1], s = a[0] * u[1] - a[1] * u[0];
        d[0] = 2.0 * s / (std::sqrt(c * c + s * s) + c);
    }

    static void turn_of_quaternion(const double* a, const double* u, double* d) {
        const double w = a[3] * u[3] + a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            d[i] = 2.0 * (a[3] * u[i] - u[3] * a[i] - (a[j] * u[k] - a[k] * u[j])) / w;
        }
    }
};

}  // namespace trisweep
