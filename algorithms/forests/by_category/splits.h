// Splits of one category against the rest, of all columns that are not continuous, numbered one after the other.
#pragma once

#include "forests/engine/candidates.h"

namespace dp_replica {

// Number the categories of all columns: ends[j], ..., ends[j + 1] - 1 are those of column j, a continuous one has none.
template <class Code>
std::vector<std::int64_t> number_categories(const Table<Code>& table) {
    std::vector<std::int64_t> ends(table.n_codes.size() + 1);
    for (std::size_t j = 0; j < table.n_codes.size(); ++j)
        ends[j + 1] = ends[j] + (table.is_continuous[j] ? 0 : table.n_codes[j]);
    return ends;
}

// Score every category against the rest by minus the Gini impurity of the children, times the rows of the node.
template <class Code>
std::vector<double> score_categories(
    const Growth& tree, const Table<Code>& table, std::size_t i, std::span<const double> totals) {
    std::vector<double> quality;
    for (std::size_t j = 0; j < table.n_codes.size(); ++j) {
        if (table.is_continuous[j]) continue;
        const auto scores = equals_scores(Score::gini, as_counts(count_by_code(tree, table, i, j)), totals);
        quality.insert(quality.end(), scores.begin(), scores.end());
    }
    return quality;
}

// Return the number of the category that a node is split by.
inline std::int64_t read_split(const Node& node, std::span<const std::int64_t> ends) {
    return ends[node.feature] + static_cast<std::int64_t>(node.cut);
}

// Send a numbered category left, and the rest right.
template <class Code>
void split_by_category(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> ends,
                       std::int64_t number) {
    const auto j = count_up_to(ends, number) - 1, code = number - ends[j];
    tree.split_in_two(table, i, j, EQUALS, code, static_cast<double>(code));
}

}  // namespace dp_replica
