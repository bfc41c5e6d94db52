// Nonzeros of one column that follow each other: a column's sums stay in registers.
#pragma once

#include <vector>

namespace trisweep {

struct ColumnRun {
    int column, begin, end;
};

inline std::vector<ColumnRun> column_runs(const std::vector<int>& columns) {
    std::vector<ColumnRun> found;
    for (int t = 0; t < int(columns.size()); ++t) {
        if (found.empty() || found.back().column != columns[t]) found.push_back({columns[t], t, t});
        found.back().end = t + 1;
    }
    return found;
}

}  // namespace trisweep
