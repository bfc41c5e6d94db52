// The filter: pairs of constraint violation and barrier objective that a new point must improve on in one of the two.
#pragma once

#include <cstddef>
#include <vector>

namespace trisweep {

class Filter {
public:
    explicit Filter(std::size_t room) { entries.reserve(room); }

    void reset(double most_violation) {
        entries.clear();
        limit = most_violation;
    }

    bool accepts(double violation, double objective) const {
        if (violation >= limit) return false;
        for (const Entry& e : entries)
            if (violation >= e.violation && objective >= e.objective) return false;
        return true;
    }

    // Entries that the new one covers go; where there is no room, the oldest goes.
    void add(double violation, double objective) {
        std::size_t kept = 0;
        for (const Entry& e : entries)
            if (e.violation < violation || e.objective < objective) entries[kept++] = e;
        entries.resize(kept);
        if (entries.size() == entries.capacity()) entries.erase(entries.begin());
        entries.push_back({violation, objective});
    }

private:
    struct Entry {
        double violation, objective;
    };
    std::vector<Entry> entries;
    double limit = 0.0;
};

}  // namespace trisweep
