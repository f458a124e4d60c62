// RFDPP-Gini: random forests of CART trees with noise (Li, Chen, Liu, An, Li, Li; Computer Engineering 2020 46(1)).
#pragma once

#include <optional>

#include "forests/engine/depth.h"
#include "forests/engine/intervals.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::rfdpp_gini {

enum class NominalNoise { on_counts = 1, on_scores = 2 };

// What one tree may spend and how it splits.
struct Plan {
    int max_depth;
    Reach reach;  // how deep a sound tree may be, and its budget
    std::size_t max_features;
    double count_epsilon, split_epsilon, leaf_epsilon;
    Score score;
    double sensitivity;
    bool one_draw;   // one exponential mechanism over the intervals of all continuous features together
    bool two_calls;  // a second exponential mechanism, over the features, takes the place of the comparison
    Weight weight;  // of an interval
    std::optional<int> nominal_split;  // how a split by a nominal feature decides; none sends one value left
    std::optional<NominalNoise> nominal_noise;
    std::optional<double> min_gini;  // below, a node is a leaf
    double min_samples;              // the same of its noisy count
    bool keeps_shares;               // leaves say the share of the second class, besides a label
};

// Tell whether at most one class is present or, by the reading that has a least Gini index, it is below.
inline bool is_pure_enough(std::span<const double> counts, std::optional<double> min_gini) {
    return is_pure(counts) || (min_gini && -side_score(Score::gini, counts) < *min_gini * sum_counts(counts));
}

// Label a leaf; where trees average their shares, it says that of the second class, too.
inline void end_in_leaf(
    Growth& tree, std::size_t i, std::span<const double> counts, const Plan& plan, const Generator& rng) {
    const auto noisy = label_leaf(tree, i, counts, plan.leaf_epsilon, rng);
    if (plan.keeps_shares) {
        const double first = std::max(noisy[0], 0.0), second = std::max(noisy[1], 0.0);
        tree.nodes[i].value = first + second > 0 ? second / (first + second) : 0.5;
    }
}

// Draw a cut of all continuous features together, or one of each.
template <class Code>
std::vector<Split> draw_cuts(Growth& tree, const Table<Code>& table, std::size_t i,
                             std::span<const std::int64_t> features, std::span<const double> totals, double epsilon,
                             const Plan& plan, const Generator& rng) {
    std::vector<Split> cuts;
    const std::size_t n_together = plan.one_draw ? features.size() : 1;
    for (std::size_t j = 0; j < features.size(); j += n_together) {
        const auto some = features.subspan(j, n_together);
        cuts.push_back(
            draw_interval(tree, table, i, some, totals, plan.score, plan.sensitivity, epsilon, plan.weight, rng));
    }
    return cuts;
}

// Draw a cut of the continuous features by the exponential mechanism over intervals: step (5).
template <class Code>
Split best_continuous(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> features,
                      std::span<const double> totals, double epsilon, const Plan& plan, const Generator& rng) {
    Split best;
    for (const auto& split : draw_cuts(tree, table, i, features, totals, epsilon, plan, rng))
        if (split.score > best.score) best = split;
    return best;
}

// Add noise to the records by code and class; what falls below 0 is 0.
inline void add_noise(Counts& counts, double epsilon, const Generator& rng) {
    for (std::size_t j = 0; j < counts.n_rows(); ++j) {
        const auto noisy = laplace_vector(counts.row(j), 1.0, epsilon, rng);
        std::ranges::transform(noisy, counts.row(j).begin(), [](double count) { return std::max(count, 0.0); });
    }
}

struct NominalSplits {
    Decides decides;
    std::vector<double> scores;
    std::vector<std::int64_t> codes;  // value on the left, sum of 2^j over the values j there, 0 if all have a child
};

// Score the splits of a nominal feature from its records by code and class.
inline NominalSplits nominal_scores(const Counts& counts, Score score, std::optional<int> nominal_split) {
    if (!nominal_split) {
        return {EQUALS, equals_scores(score, counts, sum_by_class(counts)), first_numbers(counts.n_rows())};
    }
    if (*nominal_split == BY_VALUE) return {BY_VALUE, {by_value_score(score, counts)}, {0}};
    const auto [found, code] = best_groups(score, counts);
    return {AMONG, {found}, {code}};
}

// Take the best split of the nominal features if it beats the best so far: step (6).
//
// With noise, all public splits of all features compete, those with an empty side too, and epsilon pays for all of
// them. Noisy class counts of one feature are disjoint (sensitivity 1), those of several share epsilon. Of noisy
// scores only the best is told, and an added record moves all of them one way: a noisy maximum, which needs noise for
// one score only (Dwork and Roth, 2014, section 3.3).
template <class Code>
Split best_nominal(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> features,
                   Split best, double epsilon, const Plan& plan, const Generator& rng) {
    const bool is_paid = plan.nominal_noise.has_value();  // then the rows are not looked at again
    if (is_paid && !features.empty()) tree.nodes[i].epsilon += epsilon;
    for (auto feature : features) {
        auto counts = as_counts(count_by_code(tree, table, i, feature));
        if (plan.nominal_noise == NominalNoise::on_counts) add_noise(counts, epsilon / features.size(), rng);
        auto [decides, scores, codes] = nominal_scores(counts, plan.score, plan.nominal_split);
        if (plan.nominal_noise == NominalNoise::on_scores)
            scores = laplace_vector(scores, plan.sensitivity, epsilon, rng);
        for (std::size_t j = 0; j < scores.size(); ++j)
            if (scores[j] > best.score && (is_paid || divides_rows(counts, decides, codes[j])))
                best = {scores[j], feature, decides, codes[j], static_cast<double>(codes[j])};
    }
    return best;
}

// Draw one of the features by a second exponential mechanism, as DiffP-C4.5 and DiffPRFs do.
//
// A continuous feature stands there with the cut that the first one drew, a nominal one with its best split, which is
// found without noise as in step (6). What step (5) keeps for the nominal features pays.
template <class Code>
Split draw_feature(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const std::int64_t> continuous,
                   std::span<const std::int64_t> nominal, std::span<const double> totals, double epsilon,
                   const Plan& plan, const Generator& rng) {
    auto splits = draw_cuts(tree, table, i, continuous, totals, epsilon, plan, rng);
    for (std::size_t j = 0; j < nominal.size(); ++j)
        splits.push_back(best_nominal(tree, table, i, nominal.subspan(j, 1), Split{}, epsilon, plan, rng));
    std::erase_if(splits, [](const Split& split) { return split.feature < 0; });
    if (splits.empty()) return {};
    std::vector<double> quality;
    for (const auto& split : splits) quality.push_back(split.score);
    const std::vector<double> measure(quality.size(), 1.0);
    tree.nodes[i].epsilon += epsilon;
    return splits[exponential(quality, measure, plan.sensitivity, epsilon, rng)];
}

// Draw features and take their best split: steps (3) to (6).
template <class Code>
Split best_split(Growth& tree, const Table<Code>& table, std::size_t i, std::span<const double> totals,
                 const Plan& plan, const Generator& rng) {
    Features left = tree.unused_features(i, table.codes.n_rows);  // all, unless values have children of their own
    Features features = draw_features(std::move(left), plan.max_features, rng);  // (3)
    const auto is_continuous = [&](auto feature) { return table.is_continuous[feature]; };
    const auto nominal = std::ranges::stable_partition(features, is_continuous);
    const std::span<const std::int64_t> continuous(features.begin(), nominal.begin());
    const double share = plan.split_epsilon / (continuous.size() + 1);  // one is kept for the nominal features
    if (plan.two_calls) {
        const std::span<const std::int64_t> others(nominal.begin(), nominal.end());
        return draw_feature(tree, table, i, continuous, others, totals, share, plan, rng);
    }
    const auto best = best_continuous(tree, table, i, continuous, totals, share, plan, rng);
    return best_nominal(tree, table, i, nominal, best, share, plan, rng);
}

// Grow one tree as printed: Algorithm 3, step 3.
template <class Code>
std::vector<Node> grow_as_printed(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    if (plan.keeps_shares) check_least("classes", table.n_classes, 2);
    Growth tree(table, rows);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        Split split;
        if (node.depth < plan.max_depth) {
            node.exact = true;  // purity, and by the reading nominal splits and the last comparison, see no noise
            if (!is_pure_enough(counts, plan.min_gini)) {
                node.noisy_count = laplace(sum_counts(counts), 1.0, plan.count_epsilon, rng);  // (2)
                node.epsilon += plan.count_epsilon;
                if (node.noisy_count >= plan.min_samples) split = best_split(tree, table, i, counts, plan, rng);
            }
        }
        if (split.feature < 0)
            end_in_leaf(tree, i, counts, plan, rng);  // (1)
        else if (split.decides == BY_VALUE)
            tree.split_by_value(table, i, split.feature);
        else
            tree.split_in_two(table, i, split.feature, split.decides, split.code, split.cut);
    }
    return std::move(tree.nodes);
}

// Draw one of all (feature, public cut) pairs of some features by the exponential mechanism.
template <class Code>
Split draw_public_cut(const Growth& tree, const Table<Code>& table, std::size_t i,
                      std::span<const std::int64_t> features, std::span<const double> totals, double epsilon,
                      const Generator& rng) {
    std::vector<std::int64_t> ends{0};
    std::vector<double> quality;
    for (auto feature : features) {
        const auto counts = count_by_code(tree, table, i, feature);
        const auto scores = table.is_continuous[feature] ? below_scores(Score::gini, counts, totals)
                                                         : equals_scores(Score::gini, as_counts(counts), totals);
        quality.insert(quality.end(), scores.begin(), scores.end());
        ends.push_back(std::ssize(quality));
    }
    const std::vector<double> measure(quality.size(), 1.0);
    const auto drawn = exponential(quality, measure, 2.0, epsilon, rng, true);
    const auto [feature, code] = public_split(features, ends, drawn);
    return {quality[drawn], feature, table.is_continuous[feature] ? BELOW : EQUALS, code, static_cast<double>(code)};
}

// Grow one tree with every step paid: one exponential mechanism over all public cuts, no purity test.
template <class Code>
std::vector<Node> grow_sound(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto all_features = first_numbers(table.codes.n_rows);
    const int levels = count_rows(tree, plan.reach, rng);
    const double epsilon = after_count(plan.reach) / (levels + 1);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        if (tree.nodes[i].depth == levels) {
            draw_label(tree, i, counts, epsilon, rng);
            continue;
        }
        const auto features = draw_features(all_features, plan.max_features, rng);
        const auto split = draw_public_cut(tree, table, i, features, counts, epsilon, rng);
        tree.nodes[i].epsilon += epsilon;
        tree.split_in_two(table, i, split.feature, split.decides, split.code, split.cut);
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::rfdpp_gini
