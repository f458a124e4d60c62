// The thrifty tree for numbers: one private regression tree that looks closer with every question. Ours.
#pragma once

#include "forests/thrifty_tree.h"
#include "mechanisms.h"

namespace dp_replica::thrifty_regressor {

using thrifty_tree::features_to_ask;
using thrifty_tree::left_above;
using thrifty_tree::Plan;

constexpr double ENOUGH = 50.0;  // what a look or a question is worth: its epsilon times the records of the node
constexpr double LOOK_SHARE = 0.15, QUESTION_SHARE = 0.4;  // of what is left: the most that each of them may cost
constexpr double WINDOW = 1.75, QUESTION_WINDOW = 0.4;     // half of the window of each, in spreads
constexpr double DISTANCE = 1.4;  // how far from its parent's, in spreads, the centre of a node is expected
constexpr double UNSURE = 0.5;    // by how much of it its spread differs
constexpr double LEAST_SPREAD = 1e-4;  // so that a window never closes
constexpr double GRID = 0x1p20;        // places of records to one side of a centre, where they are rounded to
constexpr double TO_WHOLE = 0x1.8p52;  // added and taken away again, it rounds to the nearest, the even one of two

// What is known of the targets of a node, all of it paid for: on the scale [0, 1].
struct View {
    double n;         // noisy number of records
    double centre;    // about their mean
    double variance;  // of the error that noise leaves in the centre
    double spread;    // about their mean distance from it
};

inline double square(double x) { return x * x; }

// Return how far a target is above a centre, in halves of a window: in [-1, 1], at whose ends it is cut off.
//
// It is a multiple of 2^-20, so that sums have no rounding: a record moves them by what it adds, in whatever order.
inline double place_in_window(double target, double centre, double half) {
    const double place = std::min(std::max((target - centre) / half, -1.0), 1.0);
    return (place * GRID + TO_WHOLE - TO_WHOLE) / GRID;
}

// Return the places of the records of a node: once for all features.
template <class Code>
std::vector<double> places_in_window(
    const Growth& tree, const Table<Code>& table, std::size_t i, double centre, double half) {
    std::vector<double> places;
    places.reserve(tree.rows_of(i).size());
    note_steps(4 * tree.rows_of(i).size());
    for (auto row : tree.rows_of(i)) places.push_back(table.targets[row]);
    for (double& place : places) place = place_in_window(place, centre, half);  // of two or more at once
    return places;
}

// Sum over the records of a node how far they are above a centre, how far below, and the rest to 1 of each.
inline std::vector<double> sum_distances(std::span<const double> places) {
    double above = 0.0, below = 0.0, rest = 0.0;
    for (double distance : places) {
        above += std::max(distance, 0.0);
        below += std::max(-distance, 0.0);
        rest += 1.0 - std::abs(distance);
    }
    return {above, below, rest};
}

// Return the mean of what was expected and what is seen, weighted by how sure both are, and its variance.
inline std::pair<double, double> weigh_up(double expected, double expected_variance, double seen, double variance) {
    if (variance == 0.0) return {seen, 0.0};
    const double share = expected_variance / (expected_variance + variance);
    return {expected + share * (seen - expected), share * variance};
}

// Look at a node through the window of what is known, with noise; returns what is known then.
//
// A record adds 1 in all, to three sums: how far its target is above the centre, how far below, and what is left to
// 1, all in halves of the window. `moved` is the variance of where the centre may be from where it is known to be.
template <class Code>
View look_closer(const Growth& tree, const Table<Code>& table, std::size_t i, const View& known, double moved,
                 double epsilon, const Generator& rng) {
    // Where there is more than enough, a wider window, which cuts off less, is better.
    const double enough = std::max(known.n, 1.0) * epsilon / ENOUGH;
    const double half = std::min(WINDOW * known.spread * std::sqrt(std::max(enough, 1.0)), 1.0);
    const auto places = places_in_window(tree, table, i, known.centre, half);
    const auto sums = laplace_vector(sum_distances(places), 1.0, epsilon, rng);
    const double n = sums[0] + sums[1] + sums[2];
    const double above = sums[0] / std::max(n, 1.0), below = sums[1] / std::max(n, 1.0);
    const double mean = std::min(std::max(above - below, -1.0), 1.0);
    const double distance = std::min(std::max(above + below, 0.0), 1.0);
    // The variance of both: two Laplace numbers each.
    const double noise = square(2.0 * half / (std::max(n, 1.0) * epsilon));
    const auto [centre, variance] =
        weigh_up(known.centre, known.variance + moved, known.centre + half * mean, noise);
    const auto [spread, _] = weigh_up(known.spread, square(UNSURE * known.spread), half * distance, noise);
    return {n, centre, variance, std::max(spread, LEAST_SPREAD)};
}

// Sum the shares of the records of a node, above a centre and below it, by code of a feature.
template <class Code>
Grid<double> sum_shares(const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature,
                        std::span<const double> places) {
    Grid<double> shares(table.n_codes[feature], 2);
    const Code* column = table.codes.row(feature).data();
    const auto rows = tree.rows_of(i);
    note_steps(2 * rows.size() + shares.values().size());
    for (std::size_t j = 0; j < rows.size(); ++j) {
        shares(column[rows[j]], 0) += 0.5 + 0.5 * places[j];
        shares(column[rows[j]], 1) += 0.5 - 0.5 * places[j];
    }
    return shares;
}

// Draw one of all public splits of some features by permute-and-flip.
//
// The score of a split is the max operator over two classes, above the centre and below it, between which a record is
// shared that is near the centre: the larger of the two, summed over the children.
template <class Code>
std::pair<std::int64_t, std::int64_t> draw_question(
    const Growth& tree, const Table<Code>& table, std::size_t i, const Features& features, const View& view,
    double epsilon, const Generator& rng) {
    std::vector<double> quality;
    const double half = std::min(QUESTION_WINDOW * view.spread, 1.0);
    const auto places = places_in_window(tree, table, i, view.centre, half);
    for (auto feature : features) {
        const auto shares = sum_shares(tree, table, i, feature, places);
        if (table.is_continuous[feature]) {
            const auto scores = below_scores(Score::max_operator, shares, sum_by_class(shares));
            quality.insert(quality.end(), scores.begin(), scores.end());
        } else {
            quality.push_back(by_value_score(Score::max_operator, shares));
        }
    }
    const auto ends = public_splits(table, features);
    return public_split(features, ends, permute_and_flip(quality, 1.0, epsilon, rng, true));
}

// Grow the tree: look at a node; ask a question if it has enough records, else look again with all that is left.
template <class Code>
std::vector<Node> grow_tree(
    const Plan& plan, const Table<Code>& table, std::span<const std::uint32_t> rows, const Generator& rng) {
    check_size("targets", table.targets.size(), table.labels.size());
    Growth tree(table, rows);
    std::vector<View> views;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        Node& node = tree.nodes[i];
        View above{0.0, 0.5, 0.0, 0.5 / WINDOW};
        double left = plan.epsilon, epsilon = plan.root_epsilon;
        if (i > 0) {
            above = views[tree.parent(i)];
            left = left_above(tree, i, plan);
            epsilon = std::min(plan.enough / std::max(above.n, 1.0), LOOK_SHARE * left);
        }
        const View view = look_closer(tree, table, i, above, square(DISTANCE * above.spread), epsilon, rng);
        views.push_back(view);
        node.noisy_count = view.n;
        node.epsilon = epsilon;
        if (left < INF) left -= epsilon;
        const auto unused = features_to_ask(tree, i, table.codes.n_rows, plan, rng);
        if (node.depth == plan.max_depth || unused.empty() || view.n <= ENOUGH / left) {
            node.value = std::min(std::max(look_closer(tree, table, i, view, 0.0, left, rng).centre, 0.0), 1.0);
            node.epsilon += left;
        } else {
            epsilon = std::min(plan.enough / view.n, QUESTION_SHARE * left);
            const auto [feature, code] = draw_question(tree, table, i, unused, view, epsilon, rng);
            node.epsilon += epsilon;
            tree.split_by_kind(table, i, feature, code, static_cast<double>(code));
        }
    }
    return std::move(tree.nodes);
}

}  // namespace dp_replica::thrifty_regressor
