// The thrifty tree: one private decision tree that pays for a question only as much as the question needs. Ours.
#pragma once

#include "forests/engine/candidates.h"
#include "forests/forest.h"
#include "mechanisms.h"

namespace dp_replica::thrifty_tree {

constexpr double TOO_FEW = 25.0;  // a node with fewer errors than this, times the epsilon that it has left, is a leaf
constexpr double COUNT_SHARE = 0.1, QUESTION_SHARE = 0.5;  // of what is left: the most that each of them may cost
constexpr double SHRINKAGE = 4.0;  // records, times the epsilon of their count, added to both classes of a ratio
constexpr double SPREAD = 1.0 / 3;  // a largest class with less of the records: keep the classes apart
constexpr double CHILD_COST = 1.0;  // records, times the epsilon that is left, that a child after the second must mend
constexpr double EXACT = 0.25;  // scale of the noise up to which the counts of a node are as good as exact
constexpr double CAUTION = 1.2;  // standard errors: how much more often a leaf is expected to err on other rows

// What the tree may spend, of classes or of numbers.
struct Plan {
    int max_depth;
    double epsilon;
    double root_epsilon;  // of the count of the root, or the look at it
    double enough;        // infinite without noise
    bool draws_labels;    // a leaf draws its label, and does not say how likely each class is
    bool asks_half;       // a node looks at a random half of the features only, so that many trees differ
};

// What a node knows of its rows, with noise.
struct Seen {
    double errors;        // records that are not of the largest class
    double n;             // records
    std::size_t largest;  // the largest class
    bool is_spread;       // no class has as much as SPREAD of the records
    double weight;  // of its records where classes are balanced: how many times as large the second class is, at most 1
    std::vector<double> counts;  // of the classes
    double epsilon;              // of these counts
    double left;                 // of epsilon, for the node and what is below
};

// Return what the nodes above node i have paid.
inline double paid_above(const Growth& tree, std::size_t i) {
    double paid = 0.0;
    for (auto above = tree.parent(i); above >= 0; above = tree.parent(above)) paid += tree.nodes[above].epsilon;
    return paid;
}

// Return what a path has left when it comes to node i, the root's included.
inline double left_above(const Growth& tree, std::size_t i, const Plan& plan) {
    return plan.epsilon < INF ? plan.epsilon - paid_above(tree, i) : INF;
}

// Return how likely each class is by its noisy count, moved towards an even share as far as noise may have; and n.
//
// The shares are those of n records, by which they are counts again.
inline std::pair<std::vector<double>, double> share_out(std::span<const double> noisy, double epsilon) {
    const double more = 1.0 + 2.0 / epsilon;  // records, shared evenly by the classes
    double n = 0.0;
    for (double count : noisy) n += std::max(count, 0.0);
    n += more;
    std::vector<double> shares;
    for (double count : noisy) shares.push_back((std::max(count, 0.0) + more / noisy.size()) / n);
    return {shares, n};
}

// Count the records of each class with noise; what a node knows of its rows follows from that.
//
// The errors are the sum over the other classes, in which the noise of many cancels out, and at least the second class
// if that stands out of the noise.
inline Seen count_classes(
    Growth& tree, std::size_t i, std::span<const double> counts, const Plan& plan, const Generator& rng) {
    double left = plan.epsilon, epsilon = plan.root_epsilon;
    if (i > 0) {
        left = left_above(tree, i, plan);
        const double errors_above = tree.nodes[tree.parent(i)].noisy_count;
        epsilon = std::min(plan.enough / std::max(errors_above, 1.0), COUNT_SHARE * left);
    }
    const auto noisy = laplace_vector(counts, 1.0, epsilon, rng);
    const std::size_t largest = std::ranges::max_element(noisy) - noisy.begin();
    double others = 0.0, second = 0.0;
    for (std::size_t c = 0; c < noisy.size(); ++c) {
        if (c == largest) continue;
        others += noisy[c];
        if (noisy[c] > 1.0 / epsilon) second = std::max(second, noisy[c]);
    }
    const double errors = std::max(others, second);
    const bool is_spread = noisy[largest] < SPREAD * std::max(noisy[largest] + errors, 1.0);
    tree.nodes[i].noisy_count = errors;
    tree.nodes[i].epsilon = epsilon;
    // Where it is pruned, it is a leaf of these counts.
    if (!plan.draws_labels) tree.nodes[i].label = static_cast<std::int32_t>(largest);
    const double more = SHRINKAGE / epsilon;
    const double weight = (second + more) / std::max({noisy[largest] + more, second + more, 1.0});
    if (left < INF) left -= epsilon;
    return {errors, noisy[largest] + others, largest, is_spread, weight, noisy, epsilon, left};
}

// Count the ways to split by a feature.
//
// A continuous one is cut below any code but the last. A nominal one gives each category a child, which is option 0,
// or, if it has more than two, sets one category against all others.
template <class Code>
std::int64_t count_options(const Table<Code>& table, std::int64_t feature) {
    const auto n_codes = table.n_codes[feature];
    if (table.is_continuous[feature]) return n_codes - 1;
    return n_codes > 2 ? n_codes + 1 : 1;
}

// Return what a child is worth: the mean of its largest count and of its largest count where classes are balanced.
//
// The first is how many records it would get right, and stands out best of noise. It sees no difference between splits
// that leave the largest class of every child the same. The second does: records of the largest class count less, so
// that the node itself is undecided.
inline double worth(std::span<const std::int64_t> counts, std::size_t largest, double weight) {
    double most = 0.0, balanced = 0.0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
        const auto count = static_cast<double>(counts[c]);
        most = std::max(most, count);
        balanced = std::max(balanced, c == largest ? count * weight : count);
    }
    return 0.5 * (most + balanced);
}

// Return how many records are in the child that has most of their class, less those of the largest child.
//
// With many classes, even the best split lets each child name one class only, and `worth` hardly tells it from others.
// It sends most classes to one side each all the same.
inline double separation(const Grid<std::int64_t>& children) {
    std::int64_t together = 0, largest = 0;
    for (std::size_t c = 0; c < children.n_columns(); ++c) {
        std::int64_t most = 0;
        for (std::size_t k = 0; k < children.n_rows(); ++k) most = std::max(most, children(k, c));
        together += most;
    }
    for (std::size_t k = 0; k < children.n_rows(); ++k) {
        const auto of_child = children.row(k);
        largest = std::max(largest, std::accumulate(of_child.begin(), of_child.end(), std::int64_t{0}));
    }
    return static_cast<double>(together - largest);
}

// Score children by what they get right, or, where no class stands out, by how they keep the classes apart.
inline double score_children(const Grid<std::int64_t>& children, const Seen& seen) {
    if (seen.is_spread) return separation(children);
    double score = 0.0;
    for (std::size_t k = 0; k < children.n_rows(); ++k) score += worth(children.row(k), seen.largest, seen.weight);
    return score;
}

// Score all options of a feature by their children.
inline void score_options(bool is_continuous, const Grid<std::int64_t>& counts, std::span<const double> totals,
                          const Seen& seen, std::span<double> scores) {
    const std::size_t n_codes = counts.n_rows(), first = is_continuous ? 0 : 1;
    if (!is_continuous)
        scores[0] = score_children(counts, seen) - CHILD_COST * (std::max<std::size_t>(n_codes, 2) - 2) / seen.left;
    Grid<std::int64_t> sides(2, totals.size());
    for (std::size_t option = first; option < scores.size(); ++option) {
        for (std::size_t c = 0; c < totals.size(); ++c) {
            const auto code_count = counts(option - first, c);
            sides(0, c) = is_continuous ? sides(0, c) + code_count : code_count;
            sides(1, c) = static_cast<std::int64_t>(totals[c]) - sides(0, c);
        }
        scores[option] = score_children(sides, seen);
    }
}

// Draw a feature and one of its options by permute-and-flip, see score_options; `separation` is not monotone.
template <class Code>
std::pair<std::int64_t, std::int64_t> draw_question(
    const Growth& tree, const Table<Code>& table, std::size_t i, const Features& features,
    std::span<const double> totals, const Seen& seen, double epsilon, const Generator& rng) {
    std::vector<std::int64_t> ends(1);
    for (auto feature : features) ends.push_back(ends.back() + count_options(table, feature));
    std::vector<double> quality(ends.back());
    for (std::size_t j = 0; j < features.size(); ++j) {
        const auto counts = count_by_code(tree, table, i, features[j]);
        const std::span scores(quality.begin() + ends[j], quality.begin() + ends[j + 1]);
        score_options(table.is_continuous[features[j]], counts, totals, seen, scores);
    }
    return public_split(features, ends, permute_and_flip(quality, 1.0, epsilon, rng, !seen.is_spread));
}

// Split node i by an option of a feature, see count_options.
//
// Trees compare values, not codes: a cut is the upper end of the last code on the left.
template <class Code>
void split_by_option(
    Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature, std::int64_t option) {
    if (table.is_continuous[feature])
        tree.split_in_two(table, i, feature, BELOW, option, table.levels[table.first_level[feature] + option]);
    else if (option > 0)
        tree.split_in_two(table, i, feature, EQUALS, option - 1, static_cast<double>(option - 1));
    else
        tree.split_by_value(table, i, feature);
}

// Return how many of n other records a leaf is expected to get wrong at most, see CAUTION: the end of Wilson's interval.
inline double expected_errors(double errors, double n) {
    n = std::max(n, 1.0);
    const double share = std::min(std::max(errors / n, 0.0), 1.0), square = CAUTION * CAUTION;
    const double error = std::sqrt(share / n - share * share / n + square / (4.0 * n * n));
    return n * (share + square / (2.0 * n) + CAUTION * error) / (1.0 + square / n);
}

// Make leaves of nodes that are expected to err as little as the leaves below them, where counts are near exact.
//
// As in C4.5, with the counts that nodes were released with, so that it costs nothing.
inline void prune_tree(Growth& tree, const std::vector<Seen>& known) {
    std::vector<double> below(known.size());
    for (std::size_t i = known.size(); i-- > 0;) {
        Node& node = tree.nodes[i];
        double errors = expected_errors(known[i].errors, known[i].n);
        if (node.decides != LEAF && 1.0 / known[i].epsilon <= EXACT && errors <= below[i]) tree.make_leaf(i);
        if (node.decides != LEAF) errors = below[i];
        if (i > 0) below[tree.parent(i)] += errors;
    }
}

// Append for every leaf a node for each class, of whose share it is the value; the leaf has the first as child.
//
// The value of the leaf itself is how many records they are shares of.
inline void note_shares(Growth& tree, const std::vector<Seen>& known) {
    const auto depth = tree.nodes.back().depth;
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (tree.nodes[i].decides != LEAF) continue;
        const auto [shares, n] = share_out(known[i].counts, known[i].epsilon);
        tree.nodes[i].child = static_cast<std::int32_t>(tree.nodes.size());
        tree.nodes[i].value = n;
        for (double share : shares) tree.nodes.push_back({.depth = depth, .value = share});
    }
}

// Return the features that node i looks at.
inline Features features_to_ask(const Growth& tree, std::size_t i, std::size_t n_features, const Plan& plan,
                                const Generator& rng) {
    const auto unused = tree.unused_features(i, n_features);
    return plan.asks_half ? draw_features(unused, (unused.size() + 1) / 2, rng) : unused;
}

// Grow the tree: count the classes of a node; ask a question if it may pay, else label it with what is left.
//
// The root is asked a question whatever its counts, since a tree that asks nothing need not be grown.
template <class Code>
std::vector<Node> grow_tree(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    Growth tree(table, rows);
    std::vector<Seen> known;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto counts = class_counts(tree, i);
        const auto seen = count_classes(tree, i, counts, plan, rng);
        known.push_back(seen);
        Node& node = tree.nodes[i];
        const auto unused = features_to_ask(tree, i, table.codes.n_rows, plan, rng);
        const bool is_worth_asking = i == 0 || seen.errors > TOO_FEW / seen.left;
        if (node.depth == plan.max_depth || unused.empty() || !is_worth_asking) {
            if (plan.draws_labels) {
                draw_label(tree, i, counts, seen.left, rng);
            } else {
                known[i].counts = label_leaf(tree, i, counts, seen.left, rng);
                known[i].epsilon = seen.left;
            }
        } else {
            const double epsilon = std::min(plan.enough / std::max(seen.errors, 1.0), QUESTION_SHARE * seen.left);
            const auto [feature, option] = draw_question(tree, table, i, unused, counts, seen, epsilon, rng);
            node.epsilon += epsilon;
            split_by_option(tree, table, i, feature, option);
        }
    }
    if (!plan.draws_labels) {
        prune_tree(tree, known);
        note_shares(tree, known);
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::thrifty_tree
