// DiffPRFs, with the s: private random forests with continuous features (Mu, Ding, Song, Lu, 2016), after paper 2.
#pragma once

#include "forests/engine/depth.h"
#include "forests/engine/intervals.h"
#include "forests/engine/lazy.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::diffprfs {

// What one tree may spend and how it splits.
struct Plan {
    int max_depth;
    std::size_t max_features;
    std::span<const double> count_epsilon;  // of each level, half of it
    std::span<const double> split_epsilon;  // the other half, as for a leaf
    std::span<const double> leaf_epsilon;
    Score score;
    double sensitivity;
    bool stops_below_noise;
};

// What one tree of the sound variant may spend and how it splits.
struct SoundPlan {
    int max_depth;
    Reach reach;
    std::size_t max_features;
    Matrix<const double> split_epsilon;  // row i is for a tree of i levels, level by level
    Matrix<const double> leaf_epsilon;   // the same of a leaf: all that the splits above it have left
    Score score;
    double sensitivity;
};

// Tell whether a class count of a child would stand out of its noise: N / (v c) > sqrt(2) / epsilon.
//
// v is the largest number of children that an unused feature gives. The text has a node stop at "<", which differs
// only without noise: there a node without records is a leaf, too. Under the other reading N > 0 is enough.
template <class Code>
bool is_large(const Node& node, const Table<Code>& table, const Features& unused, const Plan& plan) {
    if (!plan.stops_below_noise) return node.noisy_count > 0;
    std::int64_t n_children = 0;
    for (auto feature : unused)
        n_children = std::max(n_children, table.is_continuous[feature] ? 2 : table.n_codes[feature]);
    return node.noisy_count / (n_children * table.n_classes) > std::sqrt(2.0) / plan.count_epsilon[node.depth];
}

// Draw a cut for each continuous feature, then one of all features, both by the exponential mechanism.
template <class Code>
Split draw_feature(Growth& tree, const Table<Code>& table, std::size_t i, const Features& features,
                   std::span<const double> totals, const Plan& plan, const Generator& rng) {
    const auto n_continuous =
        std::ranges::count_if(features, [&](auto feature) { return table.is_continuous[feature]; });
    const double share = plan.split_epsilon[tree.nodes[i].depth] / (n_continuous + 1);
    const bool has_rows = sum_counts(totals) > 0;  // without rows, no nominal feature scores above 0
    std::vector<Split> splits;
    std::vector<double> quality, measure;
    for (auto feature : features) {
        Split split{0.0, feature};
        if (!table.is_continuous[feature]) {
            if (has_rows) split.score = by_value_score(plan.score, count_by_code(tree, table, i, feature));
        } else {
            split = draw_interval(tree, table, i, std::span(&feature, 1), totals, plan.score, plan.sensitivity, share,
                                  Weight::length, rng);
        }
        splits.push_back(split);
        quality.push_back(split.score);
        measure.push_back(split.feature >= 0);  // a feature with one value in the node cannot be drawn
    }
    if (sum_counts(measure) == 0) return {};
    const auto j = exponential(quality, measure, plan.sensitivity, share, rng);
    tree.nodes[i].epsilon += share;
    return splits[j];
}

// Grow one tree: noisy count, stop if it is small, else cut the continuous features and draw a feature.
template <class Code>
std::vector<Node> grow_as_printed(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        node.noisy_count = laplace(sum_counts(counts), 1.0, plan.count_epsilon[node.depth], rng);
        node.epsilon += plan.count_epsilon[node.depth];
        Split split;
        if (node.depth < plan.max_depth && node.noisy_count > 0) {  // no other is large: half of those without rows
            auto unused = tree.unused_features(i, table.codes.n_rows);
            if (!unused.empty() && is_large(node, table, unused, plan)) {
                const auto features = draw_features(std::move(unused), plan.max_features, rng);
                split = draw_feature(tree, table, i, features, counts, plan, rng);
            }
        }
        if (split.feature < 0)
            label_leaf(tree, i, counts, plan.leaf_epsilon[node.depth], rng);
        else
            tree.split_by_kind(table, i, split.feature, split.code, split.cut);
    }
    return std::move(tree.nodes);
}

// Draw one of the features, a continuous one with a public cut, by one exponential mechanism.
//
// The cuts of a feature share a measure of 1, so that no feature comes more often for having more of them.
template <class Code>
Split draw_public_split(Growth& tree, const Table<Code>& table, std::size_t i, const Features& features,
                        std::span<const double> totals, const SoundPlan& plan, double epsilon, const Generator& rng) {
    const auto ends = public_splits(table, features);
    std::vector<double> quality, measure;
    for (auto feature : features) {
        const auto counts = count_by_code(tree, table, i, feature);
        if (table.is_continuous[feature]) {
            const auto scores = below_scores(plan.score, counts, totals);
            quality.insert(quality.end(), scores.begin(), scores.end());
            measure.resize(quality.size(), 1.0 / scores.size());
        } else {
            quality.push_back(by_value_score(plan.score, counts));
            measure.push_back(1.0);
        }
    }
    tree.nodes[i].epsilon += epsilon;
    const auto drawn = exponential(quality, measure, plan.sensitivity, epsilon, rng, true);
    const auto [feature, code] = public_split(features, ends, drawn);
    return {quality[drawn], feature, BELOW, code, static_cast<double>(code)};
}

// Grow one tree with every step paid: public cuts, no stop but the last level, and no count in its nodes.
template <class Code>
std::vector<Node> grow_sound(
    const SoundPlan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const int levels = count_rows(tree, plan.reach, rng);
    const auto split_epsilon = plan.split_epsilon.row(levels), leaf_epsilon = plan.leaf_epsilon.row(levels);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        auto unused = tree.unused_features(i, table.codes.n_rows);
        if (node.depth == levels || unused.empty()) {
            draw_label(tree, i, counts, leaf_epsilon[node.depth], rng);
        } else if (is_left_to_key(tree, counts, rng)) {
            // Without rows all scores are equal: what lies below is drawn when somebody asks, see engine/lazy.h.
            leave_to_key(node, levels - node.depth, leaf_epsilon[node.depth], rng);
        } else {
            const auto features = draw_features(std::move(unused), plan.max_features, rng);
            const auto split =
                draw_public_split(tree, table, i, features, counts, plan, split_epsilon[node.depth], rng);
            tree.split_by_kind(table, i, split.feature, split.code, split.cut);
        }
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::diffprfs
