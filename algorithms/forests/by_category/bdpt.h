// BDPT: a greedy tree of categories, a rival of PrivaTree (Vos et al., arXiv 2305.15394, 2023).
#pragma once

#include "forests/by_category/splits.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::bdpt {

// What the tree may spend.
struct Plan {
    int max_depth;
    double level_epsilon;
    std::span<const double> count_epsilon;  // of the counts of each level, at last those of a leaf
    bool is_sound;
};

// Draw a split by the mean impurity of its children, with the sensitivity of the noisy number of rows.
inline std::size_t draw_as_programmed(
    Node& node, std::vector<double> scores, double n_rows, const Plan& plan, const Generator& rng) {
    const double epsilon = plan.count_epsilon[node.depth];
    node.noisy_count = std::max(laplace(n_rows, 1.0, epsilon, rng), 1.0);
    node.epsilon += epsilon;
    const double sensitivity = mean_gini_sensitivity(node.noisy_count);
    for (double& score : scores) score /= std::max(n_rows, 1.0);
    return exponential(scores, std::vector(scores.size(), 1.0), sensitivity, plan.level_epsilon, rng);
}

// Grow the tree: every node above the last level is split, whatever its rows.
template <class Code>
std::vector<Node> grow_tree(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto ends = number_categories(table);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        if (node.depth == plan.max_depth || ends.back() == 0) {  // columns of no category: numbers of no rows
            label_leaf(tree, i, counts, plan.count_epsilon[node.depth], rng);
            continue;
        }
        auto scores = score_categories(tree, table, i, counts);
        const auto drawn =
            plan.is_sound ? exponential(scores, std::vector(scores.size(), 1.0), 2.0, plan.level_epsilon, rng, true)
                          : draw_as_programmed(node, std::move(scores), sum_counts(counts), plan, rng);
        node.epsilon += plan.level_epsilon;
        split_by_category(tree, table, i, ends, drawn);
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::bdpt
