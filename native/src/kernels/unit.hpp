// Units, as numbers tell them: powers of 100, so that a problem stays what it is where its numbers are those that people write down,
// and is that problem again in units a hundred or a million times as large.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace trisweep {

// The unit in which a number is between `least` and 100 times that; at most 1e12, at least the inverse.
inline double unit_of(double number, double least) {
    const double power = std::floor(std::log(number / least) / std::log(100.0));
    return std::pow(100.0, std::clamp(power, -6.0, 6.0));
}

// What this share of positive numbers are below, between two by their logarithms; 0 of none. Changes their order.
inline double quantile(std::vector<double>& numbers, double share) {
    if (numbers.empty()) return 0.0;
    const double place = share * double(numbers.size() - 1), rest = place - std::floor(place);
    const auto at = numbers.begin() + std::ptrdiff_t(place);
    std::nth_element(numbers.begin(), at, numbers.end());
    if (rest == 0.0) return *at;
    return *at * std::pow(*std::min_element(at + 1, numbers.end()) / *at, rest);
}

}  // namespace trisweep
