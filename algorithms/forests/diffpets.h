// DiffPETs: extremely randomised trees with noise (Li, Chen, Xie; Computer Engineering 2020 46(2)).
#pragma once

#include <tuple>

#include "forests/engine/depth.h"
#include "forests/engine/intervals.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::diffpets {

enum class Cut { value, record, is_public };

// What a leaf has noise on. Classes: each class count, or, sound, the choice of the label. Numbers: the sum and the
// number of the targets, or their mean, or, sound, the sums of y and of 1 - y, to which a record adds 1 together.
enum class Leaf { counts, drawn, ratio, mean, parts };

// What one tree may spend, how it splits and what its leaves hold.
struct Plan {
    int max_depth;             // levels of splits
    Reach reach;               // how deep a sound tree may be, and its budget
    std::size_t max_features;  // K
    double epsilon;            // of each mechanism in a node
    double leaf_epsilon;
    double sensitivity;  // of the split score
    bool monotone;       // the score is drawn by as one that an added record never raises
    Cut cut;             // where cuts come from
    bool is_regression;
    Score score;             // classes
    bool mean_variance;      // regression: the score is the mean squared error instead of the sum
    Leaf leaf;
    double error_threshold;  // regression: mean squared error up to which a node is a leaf
};

// Where the candidates of a node are worked out, kept for the next.
struct Room {
    std::unique_ptr<bool[]> seen;  // a flag for each code of a column: all false
    std::vector<double> left;      // records on the left of a split by class
    std::vector<double> measure;   // 1, the weight of each candidate
    std::vector<double> quality, cuts;
    std::vector<std::int64_t> codes;
};

// Make room for the candidates of a node.
template <class Code>
Room make_room(const Plan& plan, const Table<Code>& table) {
    const std::size_t k = std::min(plan.max_features, table.codes.n_rows);
    const std::size_t most_codes = std::ranges::max(table.n_codes);
    if (plan.is_regression) check_size("targets", table.targets.size(), table.labels.size());
    return {std::make_unique<bool[]>(most_codes), std::vector<double>(table.n_classes), std::vector<double>(k, 1.0),
            std::vector<double>(k), std::vector<double>(k), std::vector<std::int64_t>(k)};
}

// Tell whether a node need not be split: one class only, or little error. Reads the rows exactly.
inline bool is_settled(const Growth& tree, std::span<const double> targets, std::size_t i, const Plan& plan) {
    if (!plan.is_regression) return is_pure(class_counts(tree, i));
    const auto n = static_cast<double>(tree.rows_of(i).size());
    const auto [total, squares] = sum_targets(tree, targets, i);
    const double mean = n > 0 ? total / n : 0.0;
    return n == 0 || squares / n - mean * mean <= plan.error_threshold + 1e-12;  // equal targets leave rounding
}

// Draw a record of node i; returns its code of a feature.
template <class Code>
std::int64_t draw_code_of_record(
    const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature, const Generator& rng) {
    const auto rows = tree.rows_of(i);
    check(!rows.empty(), "a node without rows has no record to take a cut from");
    return table.codes(feature, rows[rng.draw_below(rows.size())]);
}

// Draw a cut of a feature: a value that the node holds, or any of the public range.
//
// Returns the largest code on the left (the only one, for a nominal feature) and the value that raw values are
// compared with.
template <class Code>
std::pair<std::int64_t, double> draw_cut(const Growth& tree, const Table<Code>& table, std::size_t i,
                                         std::int64_t feature, const Plan& plan, bool* seen, const Generator& rng) {
    const auto levels = table.levels.subspan(table.first_level[feature], table.n_codes[feature]);
    if (plan.cut == Cut::is_public && table.is_continuous[feature]) {
        const double cut = table.lower[feature] + rng.random() * table.width[feature];
        return {std::ranges::upper_bound(levels, cut) - levels.begin() - 1, cut};
    }
    std::int64_t code;
    if (plan.cut == Cut::is_public)
        code = rng.draw_below(table.n_codes[feature]);
    else if (plan.cut == Cut::record)
        code = draw_code_of_record(tree, table, i, feature, rng);
    else
        code = draw_present_code(tree, table, i, feature, seen, rng);
    return {code, levels[code]};
}

// Draw one random cut for each feature, then one of these splits by the exponential mechanism.
template <class Code>
Split draw_split(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> features,
                 const Plan& plan, double epsilon, Room& room, const Generator& rng) {
    auto& [seen, left, measure, quality, cuts, codes] = room;
    const auto counts = class_counts(tree, i);
    const auto [total, squares] = plan.is_regression ? sum_targets(tree, table.targets, i) : std::pair(0.0, 0.0);
    for (std::size_t j = 0; j < features.size(); ++j) {
        const auto feature = features[j];
        std::tie(codes[j], cuts[j]) = draw_cut(tree, table, i, feature, plan, seen.get(), rng);
        const auto lowest = table.is_continuous[feature] ? 0 : codes[j];
        if (plan.is_regression) {
            const auto [n_left, sum_left] = sum_within(tree, table, i, feature, lowest, codes[j]);
            quality[j] = squared_error_score(counts[0], total, n_left, sum_left, squares);
            if (plan.mean_variance && counts[0] > 0) quality[j] /= counts[0];
        } else {
            count_within(tree, table, i, feature, lowest, codes[j], left);
            quality[j] = split_score(plan.score, left, counts);
        }
    }
    const auto j = exponential(quality, measure, plan.sensitivity, epsilon, rng, plan.monotone);
    tree.nodes[i].epsilon += epsilon;
    return {quality[j], features[j], table.is_continuous[features[j]] ? BELOW : EQUALS, codes[j], cuts[j]};
}

// Return the noisy mean of n targets with this sum.
inline double noisy_mean(double n, double total, Leaf leaf, double epsilon, const Generator& rng) {
    if (leaf == Leaf::mean) return laplace(n > 0 ? total / n : 0.5, 2.0, epsilon, rng);
    if (leaf == Leaf::parts) {
        const auto sums = laplace_vector(std::vector{total, n - total}, 1.0, epsilon, rng);
        const double below = sums[0], above = sums[1];
        return below + above > 0 ? below / (below + above) : 0.5;
    }
    const double noisy_sum = laplace(total, 1.0, epsilon / 2, rng);
    const double noisy_n = laplace(n, 1.0, epsilon / 2, rng);
    return noisy_n != 0 ? noisy_sum / noisy_n : 0.5;
}

// Make a node a leaf: the largest noisy class count, or a noisy mean.
inline void finish_leaf(Growth& tree, std::span<const double> targets, std::size_t i, const Plan& plan,
                        double epsilon, const Generator& rng) {
    if (plan.is_regression) {
        const auto [total, squares] = sum_targets(tree, targets, i);
        const double mean = noisy_mean(static_cast<double>(tree.rows_of(i).size()), total, plan.leaf, epsilon, rng);
        tree.nodes[i].epsilon += epsilon;
        tree.nodes[i].value = std::min(std::max(mean, 0.0), 1.0);
    } else if (plan.leaf == Leaf::drawn) {
        draw_label(tree, i, class_counts(tree, i), epsilon, rng);
    } else {
        label_leaf(tree, i, class_counts(tree, i), epsilon, rng);
    }
}

// Grow one tree as printed: Algorithm 2.
template <class Code>
std::vector<Node> grow_as_printed(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto all_features = first_numbers(table.codes.n_rows);
    Room room = make_room(plan, table);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        Node& node = tree.nodes[i];
        node.exact = node.depth < plan.max_depth;  // the stop condition and the values present are read without noise
        node.noisy_count = laplace(static_cast<double>(tree.rows_of(i).size()), 1.0, plan.epsilon, rng);
        node.epsilon += plan.epsilon;
        if (node.depth == plan.max_depth || is_settled(tree, table.targets, i, plan)) {  // line 1
            finish_leaf(tree, table.targets, i, plan, plan.leaf_epsilon, rng);           // line 2
        } else {
            const auto features = draw_features(all_features, plan.max_features, rng);                   // line 4
            const auto split = draw_split(tree, table, i, features, plan, plan.epsilon, room, rng);      // lines 5, 6
            tree.split_in_two(table, i, split.feature, split.decides, split.code, split.cut);            // line 7
        }
    }
    return std::move(tree.nodes);
}

// Grow one tree with every step paid: public cuts, no stop but the depth.
template <class Code>
std::vector<Node> grow_sound(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto all_features = first_numbers(table.codes.n_rows);
    Room room = make_room(plan, table);
    const int levels = count_rows(tree, plan.reach, rng);
    const double epsilon = after_count(plan.reach) / (levels + 1);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (tree.nodes[i].depth == levels) {
            finish_leaf(tree, table.targets, i, plan, epsilon, rng);
        } else {
            const auto features = draw_features(all_features, plan.max_features, rng);
            const auto split = draw_split(tree, table, i, features, plan, epsilon, room, rng);
            tree.split_in_two(table, i, split.feature, split.decides, split.code, split.cut);
        }
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::diffpets
