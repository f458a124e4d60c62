// C4.5 for numeric attributes (Quinlan, 1993), the decision tree of paper 5.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "native/checks.h"
#include "native/stopping.h"

namespace dp_replica::c45 {

constexpr std::size_t FEWEST = 2, MOST = 25;  // rows that each side of a cut needs: a tenth of the average of a class
constexpr double NOTHING = 1e-9;              // bits; what rounding leaves of a gain of 0
constexpr double ROUND = 1e10;  // gain ratios are compared to ten decimals, so that rounding breaks no tie

// Rows, and i log2 i for i from 0 to their number: entropies of counts are sums of these.
struct Rows {
    Matrix<const double> columns;
    std::span<const std::int64_t> codes;  // the class of each row
    std::span<const double> logs;
};

using Counts = std::vector<std::int64_t>;  // rows of each class

// Rows of a node, once for each attribute, by its values: a slice of those of the root.
using Members = std::vector<std::span<std::int64_t>>;

// The best cut of one feature; the ratio is -inf where there is none.
struct Cut {
    double at = 0.0, gain = 0.0, ratio = -INF;
};

struct Tree {
    std::vector<std::int64_t> feature;  // that a node is cut by, -1 of a leaf
    std::vector<double> cut;
    std::array<std::vector<std::int64_t>, 2> children;
    std::vector<std::int64_t> counts;  // (nodes, classes): rows of each class, node after node
};

// Return the entropy in bits of some counts, times their sum.
inline double sum_entropy(std::span<const std::int64_t> counts, std::span<const double> logs) {
    std::int64_t n = 0;
    double entropy = 0.0;
    for (auto count : counts) {
        n += count;
        entropy -= logs[count];
    }
    return entropy + logs[n];
}

// Return the cut of one feature with the largest gain ratio. Entropies are here in bits times rows.
inline Cut best_of_feature(const Rows& rows, std::size_t feature, std::span<const std::int64_t> members,
                           const Counts& total, std::size_t fewest) {
    const auto values = rows.columns.row(feature);
    const auto codes = rows.codes;
    const auto logs = rows.logs;
    const std::size_t n = members.size();
    note_steps(4 * n);
    const double of_all = sum_entropy(total, logs);
    Counts below(total.size()), above = total;
    Cut best;
    double after = values[members[0]];
    for (std::size_t i = 0; i < n - fewest; ++i) {
        ++below[codes[members[i]]];
        --above[codes[members[i]]];
        const double before = after;
        after = values[members[i + 1]];
        if (i + 1 < fewest || before == after) continue;
        const double gain = (of_all - sum_entropy(below, logs) - sum_entropy(above, logs)) / n;
        const double of_cut = (logs[n] - logs[i + 1] - logs[n - i - 1]) / n;
        if (gain <= NOTHING || gain < of_cut * (best.ratio - NOTHING)) continue;  // most are: to divide takes longest
        const double ratio = std::rint(gain / of_cut * ROUND) / ROUND;
        if (ratio > best.ratio) best = {(before + after) / 2, gain, ratio};
    }
    return best;
}

// Return the feature that a node is cut by, and where; -1 and 0 for a leaf.
inline std::pair<std::int64_t, double> find_cut(const Rows& rows, const Members& members, const Counts& total) {
    const std::size_t n = members[0].size();
    const std::size_t fewest = std::clamp<double>(0.1 * n / total.size(), FEWEST, MOST);
    if (n < 2 * fewest || std::ranges::max(total) == std::int64_t(n)) return {-1, 0.0};
    std::vector<Cut> cuts;
    double sum = 0.0;
    std::size_t n_cuts = 0;
    for (std::size_t feature = 0; feature < members.size(); ++feature) {
        cuts.push_back(best_of_feature(rows, feature, members[feature], total, fewest));
        if (cuts.back().ratio == -INF) continue;
        sum += cuts.back().gain;
        ++n_cuts;
    }
    if (n_cuts == 0) return {-1, 0.0};
    for (Cut& cut : cuts)
        if (cut.gain < sum / n_cuts - NOTHING) cut.ratio = -INF;
    const auto chosen = std::ranges::max_element(cuts, {}, &Cut::ratio);
    return {chosen - cuts.begin(), chosen->at};
}

// Put the rows up to a cut first, each attribute's in their order; return how many these are.
inline std::size_t divide(const Members& members, std::span<const double> values, double cut) {
    std::size_t n_left = 0;
    std::vector<std::int64_t> later(members[0].size());
    for (const auto of_feature : members) {
        n_left = 0;
        std::size_t n_right = 0;
        for (const auto row : of_feature) {
            const bool is_left = values[row] <= cut;
            of_feature[n_left] = later[n_right] = row;  // to both: no branch, that processors would guess wrong
            n_left += is_left;
            n_right += !is_left;
        }
        std::copy_n(later.begin(), n_right, of_feature.begin() + n_left);
    }
    return n_left;
}

// Check that each row has a class, and stands once in the order of each attribute.
inline void check_rows(const Rows& rows, Matrix<std::int64_t> order, std::size_t n_classes) {
    const std::size_t n = rows.codes.size();
    check_least("attributes", order.n_rows, 1);
    check_size("columns", rows.columns.n_rows, order.n_rows);
    check_size("rows of the columns", rows.columns.n_columns, n);
    check_size("rows in order", order.n_columns, n);
    check_size("logarithms", rows.logs.size(), n + 1);
    check_below("the class of row", rows.codes, n_classes);
    for (std::size_t f = 0; f < order.n_rows; ++f) {
        std::vector<bool> stands(n);
        for (auto row : order.row(f)) {
            check(is_below(row, n) && !stands[row], "the order of an attribute has not every row once");
            stands[row] = true;
        }
    }
}

// Return the feature and the cut of each node, its children, and its rows of each class; sorts `order` anew.
inline Tree cut_nodes(const Rows& rows, Matrix<std::int64_t> order, std::size_t n_classes) {
    struct Waiting {
        std::size_t start, stop;
        std::int64_t parent;
        int side;
    };
    check_rows(rows, order, n_classes);
    Tree tree;
    std::vector<Waiting> waiting{{0, order.n_columns, -1, 0}};
    while (!waiting.empty()) {
        const auto [start, stop, parent, side] = waiting.back();
        waiting.pop_back();
        const auto node = std::ssize(tree.feature);
        if (parent >= 0) tree.children[side][parent] = node;
        Members members;
        for (std::size_t f = 0; f < order.n_rows; ++f) members.push_back(order.row(f).subspan(start, stop - start));
        Counts counts(n_classes);
        for (auto row : members[0]) ++counts[rows.codes[row]];
        const auto [feature, cut] = find_cut(rows, members, counts);
        tree.feature.push_back(feature);
        tree.cut.push_back(cut);
        for (auto& of_side : tree.children) of_side.push_back(-1);
        tree.counts.insert(tree.counts.end(), counts.begin(), counts.end());
        if (feature >= 0) {
            const std::size_t middle = start + divide(members, rows.columns.row(feature), cut);
            check(start < middle && middle < stop, "a cut between two values has all rows on one side: they are no float32");
            waiting.push_back({middle, stop, node, 1});
            waiting.push_back({start, middle, node, 0});
        }
    }
    return tree;
}

}  // namespace dp_replica::c45
