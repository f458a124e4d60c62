// Cuts of continuous features, drawn from the intervals between the values that a node holds.
#pragma once

#include "forests/engine/candidates.h"
#include "mechanisms.h"

namespace dp_replica {

// A candidate split and its exact score.
struct Split {
    double score = -INF;
    std::int64_t feature = -1;
    Decides decides = BELOW;
    std::int64_t code = 0;
    double cut = 0.0;
};

enum class Weight { length, relative, unit };

// Draw an interval between neighbouring values present in the node, then a cut evenly inside it.
//
// The exponential mechanism runs over the intervals of all the given features together. The ends of the outermost
// intervals are values of the rows: this is how the papers print it, and it is not private. The budget is booked on
// the node if a draw takes place; no split is returned where no feature has two values in the node.
template <class Code>
Split draw_interval(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> features,
                    std::span<const double> totals, Score score, double sensitivity, double epsilon, Weight weight,
                    const Generator& rng) {
    std::vector<std::vector<std::int64_t>> codes;  // present in the node, of each feature
    std::vector<std::int64_t> ends{0};             // of the intervals of a feature
    std::vector<double> quality, measure;
    for (auto feature : features) {
        auto [present, counts] = count_by_present_code(tree, table, i, feature);
        const auto scores = below_scores(score, counts, totals);
        quality.insert(quality.end(), scores.begin(), scores.end());
        measure.resize(quality.size(), 1.0);
        const double* levels = table.levels.data() + table.first_level[feature];
        const double unit = weight == Weight::relative ? table.width[feature] : 1.0;
        for (std::size_t j = 0; weight != Weight::unit && j < scores.size(); ++j)
            measure[ends.back() + j] = (levels[present[j + 1]] - levels[present[j]]) / unit;
        codes.push_back(std::move(present));
        ends.push_back(std::ssize(quality));
    }
    if (quality.empty()) return {};
    const auto drawn = exponential(quality, measure, sensitivity, epsilon, rng);
    tree.nodes[i].epsilon += epsilon;
    const auto k = count_up_to(ends, drawn) - 1, j = static_cast<std::int64_t>(drawn) - ends[k];
    const double* levels = table.levels.data() + table.first_level[features[k]];
    const double low = levels[codes[k][j]], high = levels[codes[k][j + 1]], cut = low + rng.random() * (high - low);
    return {quality[drawn], features[k], BELOW, codes[k][j], cut < high ? cut : low};
}

}  // namespace dp_replica
