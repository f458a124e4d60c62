// eDPRF: permute-and-flip forests (Wang et al.; Journal of Software 2025 36(7)), and its tree pfDPDT.
#pragma once

#include "forests/engine/candidates.h"
#include "forests/engine/depth.h"
#include "forests/engine/lazy.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::edprf {

// What one tree may spend and how it chooses.
struct Plan {
    int max_depth;                       // levels of nodes, the root being the first
    Reach reach;                         // how deep a sound tree may be, and its budget
    Matrix<const double> split_epsilon;  // row i is for a tree of i levels of splits, level by level
    Matrix<const double> leaf_epsilon;   // the same of a leaf: all that its path has left
    bool split_flips;                    // permute-and-flip chooses the feature, else the exponential mechanism
    bool leaf_flips;                     // permute-and-flip chooses the label, else Laplace noise on the class counts
    double count_share;                  // share of a leaf's budget that pays for its noisy class counts
    bool is_sound;                       // no exact test of purity; scores are drawn by as monotone ones
};

// Draw one of all unused features by its Gini score.
template <class Code>
std::int64_t draw_feature(Growth& tree, const Table<Code>& table, std::size_t i, const Features& unused,
                          const Plan& plan, double epsilon, const Generator& rng) {
    std::vector<double> quality;
    for (auto feature : unused)
        quality.push_back(by_value_score(Score::gini, count_by_code(tree, table, i, feature)));
    tree.nodes[i].epsilon += epsilon;
    if (plan.split_flips) return unused[permute_and_flip(quality, 2.0, epsilon, rng, plan.is_sound)];
    const std::vector<double> measure(unused.size(), 1.0);
    return unused[exponential(quality, measure, 2.0, epsilon, rng, plan.is_sound)];
}

// Draw the label of a leaf by its class counts; its budget is all that its path has left.
inline void draw_label(Growth& tree, std::size_t i, std::span<const double> counts, const Plan& plan, double epsilon,
                       const Generator& rng) {
    Node& node = tree.nodes[i];
    if (plan.leaf_flips) {
        node.label = static_cast<std::int32_t>(permute_and_flip(counts, 1.0, epsilon, rng, plan.is_sound));
        node.epsilon += epsilon;
    } else {
        label_leaf(tree, i, counts, plan.count_share * epsilon, rng);
    }
}

// Grow one tree, pfDPDT.
template <class Code>
std::vector<Node> grow_tree(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const int levels = plan.is_sound ? count_rows(tree, plan.reach, rng) : plan.max_depth - 1;
    const auto split_epsilon = plan.split_epsilon.row(levels), leaf_epsilon = plan.leaf_epsilon.row(levels);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        const auto unused = tree.unused_features(i, table.codes.n_rows);
        const bool is_last = unused.empty() || node.depth == levels;
        node.exact = !is_last && !plan.is_sound;  // whether one label only is left is read without noise
        if (is_last || (!plan.is_sound && is_pure(counts)))
            draw_label(tree, i, counts, plan, leaf_epsilon[node.depth], rng);
        else if (is_left_to_key(tree, counts, rng))
            // Without rows all scores are equal: what lies below is drawn when somebody asks, see engine/lazy.h.
            leave_to_key(node, levels - node.depth, leaf_epsilon[node.depth], rng);
        else
            tree.split_by_value(
                table, i, draw_feature(tree, table, i, unused, plan, split_epsilon[node.depth], rng));
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::edprf
