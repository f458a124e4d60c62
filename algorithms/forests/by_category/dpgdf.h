// DPGDF: a greedy tree of nominal columns, a rival of PrivaTree (Vos et al., arXiv 2305.15394, 2023).
#pragma once

#include "forests/by_category/splits.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::dpgdf {

// Instead of a sensitivity that would be 0 because a class leads by far: no weight of another label is more than 0.
constexpr double LEAST_SENSITIVITY = 1e-300;

// What the tree may spend, and how it draws.
struct Plan {
    int max_depth;
    double level_epsilon, leaf_epsilon;
    bool weighs;  // splits by the exponential mechanism, instead of permute-and-flip
    bool is_sound;
};

// Return the numbers of the splits that no node above node i has.
inline std::vector<std::int64_t> unused_splits(
    const Growth& tree, std::size_t i, std::span<const std::int64_t> ends) {
    std::vector<bool> is_used(ends.back());
    for (auto above = tree.parent(i); above >= 0; above = tree.parent(above))
        is_used[read_split(tree.nodes[above], ends)] = true;
    auto unused = first_numbers(ends.back());
    std::erase_if(unused, [&](auto number) { return is_used[number]; });
    return unused;
}

// Draw one of some splits by its score.
inline std::size_t draw_split(std::span<const double> scores, const Plan& plan, const Generator& rng) {
    const double sensitivity = mean_gini_sensitivity(1.0);
    if (plan.weighs) return exponential(scores, std::vector(scores.size(), 1.0), sensitivity, plan.level_epsilon, rng);
    return permute_and_flip(scores, sensitivity, plan.level_epsilon, rng);
}

// Draw the label of a leaf with a sensitivity of its own rows, as the program does: that costs no finite epsilon.
//
// The classes of most rows have a score of 1, the others of 0. The sensitivity is exp(-epsilon j), where the class of
// most rows has j more than the next one.
inline void draw_label_by_lead(
    Growth& tree, std::size_t i, std::span<const double> counts, double epsilon, const Generator& rng) {
    double most = 0.0, second = 0.0;
    for (double count : counts) {
        second = std::max(second, std::min(most, count));
        most = std::max(most, count);
    }
    std::vector<double> scores;
    for (double count : counts) scores.push_back(count == most);
    const double lead = most - second;
    const double sensitivity = lead > 0 ? std::max(std::exp(-lead * epsilon), LEAST_SENSITIVITY) : 1.0;
    const auto label = exponential(scores, std::vector(scores.size(), 1.0), sensitivity, epsilon, rng, true);
    tree.nodes[i].label = static_cast<std::int32_t>(label);
    tree.nodes[i].epsilon += epsilon;
}

// Label a leaf: by its class counts, or as the program does.
inline void end_in_leaf(
    Growth& tree, std::size_t i, std::span<const double> counts, const Plan& plan, const Generator& rng) {
    if (plan.is_sound)
        draw_label(tree, i, counts, plan.leaf_epsilon, rng);
    else
        draw_label_by_lead(tree, i, counts, plan.leaf_epsilon, rng);
}

// Grow the tree: every node above the last level is split, as long as its path has left a split unused.
template <class Code>
std::vector<Node> grow_tree(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto ends = number_categories(table);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        const auto splits = unused_splits(tree, i, ends);
        if (tree.nodes[i].depth == plan.max_depth || splits.empty()) {
            end_in_leaf(tree, i, counts, plan, rng);
            continue;
        }
        const auto of_all = score_categories(tree, table, i, counts);
        const double n_rows = std::max(sum_counts(counts), 1.0);
        std::vector<double> scores;
        for (auto number : splits) scores.push_back(of_all[number] / n_rows);
        const auto number = splits[draw_split(scores, plan, rng)];
        tree.nodes[i].epsilon += plan.level_epsilon;
        split_by_category(tree, table, i, ends, number);
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::dpgdf
