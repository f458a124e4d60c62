// PrivaTree: one tree of a fixed depth (Vos, Vos, Li, Erkin, Verwer; arXiv 2305.15394, 2023).
#pragma once

#include "forests/engine/intervals.h"
#include "forests/forest.h"
#include "forests/rfdpp_gini.h"
#include "mechanisms.h"

namespace dp_replica::privatree {

constexpr double MOST_FOR_LEAVES = 0.5;  // the largest part of epsilon that leaves get, however few the rows

// What the tree may spend.
struct Plan {
    int max_depth;
    double epsilon;
    double count_epsilon;  // of the number of rows, which only a sound tree pays for
    double leaves_need;    // budget of a leaf, times the number of rows
};

struct Shares {
    double leaf, level;
};

// Return what a leaf has, and what the split of each level: corollary 4 of the appendix, at most a half.
inline Shares share_budget(const Plan& plan, double n_rows) {
    if (plan.epsilon == INF) return {INF, INF};
    const double left = plan.epsilon - plan.count_epsilon;
    const double leaf = std::min(MOST_FOR_LEAVES * left, plan.leaves_need / std::max(n_rows, 1.0));
    return {leaf, (left - leaf) / plan.max_depth};
}

// Score every public cut of every column by minus its Gini impurity, times the rows of the node.
//
// Codes up to the cut go left, all of them at the last one, which divides nothing.
template <class Code>
std::vector<double> score_cuts(
    const Growth& tree, const Table<Code>& table, std::size_t i, std::span<const double> totals) {
    std::vector<double> quality;
    const double of_all = side_score(Score::gini, totals);
    for (std::size_t feature = 0; feature < table.n_codes.size(); ++feature) {
        const auto scores = below_scores(Score::gini, count_by_code(tree, table, i, feature), totals);
        quality.insert(quality.end(), scores.begin(), scores.end());
        quality.push_back(of_all);
    }
    return quality;
}

// Return the value behind a code of a column: of a continuous one the cut that is its upper end.
template <class Code>
double value_of(const Table<Code>& table, std::size_t feature, std::int64_t code) {
    return table.levels[table.first_level[feature] + code];
}

// Split node i at the cut of a number, as score_cuts counts them.
template <class Code>
void split_at(Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t number) {
    std::size_t feature = 0;
    for (; number >= table.n_codes[feature]; ++feature) number -= table.n_codes[feature];
    tree.split_in_two(table, i, feature, BELOW, number, value_of(table, feature, number));
}

// Grow the tree as the program does: draw a cut at every node above the last level, whatever its rows.
template <class Code>
std::vector<Node> grow_as_programmed(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto epsilon = share_budget(plan, rows.size());
    tree.nodes[0].exact = true;  // the number of rows has no noise
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        if (node.depth == plan.max_depth) {
            draw_label(tree, i, counts, epsilon.leaf, rng);
        } else {
            const double n = sum_counts(counts);
            node.noisy_count = std::max(laplace(n, 1.0, 0.5 * epsilon.level, rng), 1.0);
            auto quality = score_cuts(tree, table, i, counts);
            for (double& score : quality) score /= std::max(n, 1.0);
            const double sensitivity = mean_gini_sensitivity(node.noisy_count);
            const auto drawn = permute_and_flip(quality, sensitivity, 0.5 * epsilon.level, rng);
            node.epsilon += epsilon.level;
            split_at(tree, table, i, drawn);
        }
    }
    return std::move(tree.nodes);
}

// Grow the tree with every step paid: its rows are counted with noise, and cuts are scored by weighted impurity.
template <class Code>
std::vector<Node> grow_sound(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const double n_rows = laplace(rows.size(), 1.0, plan.count_epsilon, rng);
    tree.nodes[0].noisy_count = n_rows;
    tree.nodes[0].epsilon += plan.count_epsilon;
    const auto epsilon = share_budget(plan, n_rows);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        if (tree.nodes[i].depth == plan.max_depth) {
            draw_label(tree, i, counts, epsilon.leaf, rng);
        } else {
            const auto drawn = permute_and_flip(score_cuts(tree, table, i, counts), 2.0, epsilon.level, rng, true);
            tree.nodes[i].epsilon += epsilon.level;
            split_at(tree, table, i, drawn);
        }
    }
    return std::move(tree.nodes);
}

// Return the best split of all columns by histograms that have noise for epsilon each.
template <class Code>
Split best_split(
    const Growth& tree, const Table<Code>& table, std::size_t i, double epsilon, const Generator& rng) {
    Split best;
    for (std::size_t feature = 0; feature < table.n_codes.size(); ++feature) {
        auto noisy = as_counts(count_by_code(tree, table, i, feature));
        rfdpp_gini::add_noise(noisy, epsilon, rng);
        for (double& count : noisy.values()) count = std::floor(count + 0.5);  // as geometric noise would leave them
        const auto totals = sum_by_class(noisy);
        const double n = std::max(sum_counts(totals), 1.0);
        Split split{.feature = static_cast<std::int64_t>(feature)};
        if (table.is_continuous[feature]) {
            const auto scores = below_scores(Score::gini, noisy, totals);
            if (scores.empty()) throw std::invalid_argument("attempt to get argmax of an empty sequence");
            split.code = std::ranges::max_element(scores) - scores.begin();
            split.score = scores[split.code] / n;
            split.cut = value_of(table, feature, split.code);
        } else {
            const auto [score, code] = best_groups(Score::gini, noisy);
            split.decides = AMONG, split.code = code;
            split.score = score / n;
            split.cut = static_cast<double>(code);
        }
        if (split.score > best.score) best = split;
    }
    return best;
}

// Grow the tree as the older program does: take the best split of noisy histograms, stop by the exact rows.
template <class Code>
std::vector<Node> grow_by_histograms(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    const auto epsilon = share_budget(plan, rows.size());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        Node& node = tree.nodes[i];
        node.exact = i == 0 || node.depth < plan.max_depth;  // purity, and the number of rows
        Split split;
        if (node.depth < plan.max_depth && !is_pure(counts)) {
            split = best_split(tree, table, i, epsilon.level, rng);
            node.epsilon += epsilon.level * table.n_codes.size();
        }
        if (split.feature < 0)
            draw_label(tree, i, counts, epsilon.leaf, rng);
        else
            tree.split_in_two(table, i, split.feature, split.decides, split.code, split.cut);
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::privatree
