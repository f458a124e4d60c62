// The sound release of the moments of a regression. See moments.py.
#pragma once

#include "mechanisms.h"
#include "native/checks.h"
#include "native/stopping.h"

namespace dp_replica::regression {

// Add the noise of `sup_norm_vector` to each group of some values, whose sensitivity is 1.
inline std::vector<double> add_noise_by_group(std::span<const double> values, std::span<const std::int64_t> group,
                                              std::span<const double> epsilons, const Generator& rng) {
    check_size("groups of the values", group.size(), values.size());
    check_below("the group of value", group, epsilons.size());
    std::vector<double> noisy(values.size()), members;
    for (std::size_t k = 0; k < epsilons.size(); ++k) {
        const auto is_member = [&](std::size_t i) { return group[i] == static_cast<std::int64_t>(k); };
        note_steps(4 * values.size());
        members.clear();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (is_member(i)) members.push_back(values[i]);
        const auto released = sup_norm_vector(members, 1.0, epsilons[k], rng);
        auto next = released.begin();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (is_member(i)) noisy[i] = *next++;
    }
    return noisy;
}

}  // namespace dp_replica::regression
