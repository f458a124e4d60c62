// Parts of a tree that hold no rows, drawn only when somebody asks for them. See engine/lazy.py.
#pragma once

#include "forests/engine/predictor.h"
#include "mechanisms.h"

namespace dp_replica {

constexpr std::size_t MOST_IN_FULL = std::size_t{1} << 20;  // nodes of a tree although most of them hold no rows

// Tell from its class counts whether what lies below a node is left to keys.
inline bool has_no_rows(std::span<const double> counts) {
    return std::ranges::all_of(counts, [](double count) { return count == 0; });
}

// Refuse to grow a tree in full that has too many nodes.
inline void check_is_small(std::size_t n_nodes) {
    if (n_nodes > MOST_IN_FULL)
        throw TooManyNodes("noise='opendp' draws the whole tree in advance, over 1,000,000 nodes: lower max_depth");
}

// Tell whether what lies below a node with such class counts is left to its key: never in a release.
inline bool is_left_to_key(const Growth& tree, std::span<const double> counts, const Generator& rng) {
    if (rng.secure) {
        check_is_small(tree.nodes.size());
        return false;
    }
    return has_no_rows(counts);
}

// Draw the key of a node, in place of so many levels of splits and the labels below, which cost epsilon.
inline void leave_to_key(Node& node, int levels_below, double epsilon, const Generator& rng) {
    node.key = rng.integers(1, (std::uint64_t{1} << 63) - 1);
    node.label = levels_below;
    node.epsilon += epsilon;
}

// Return a feature that the path has left, each with the same chance.
inline std::int64_t feature_of(std::uint64_t key, const std::vector<bool>& unused) {
    auto skipped = static_cast<std::int64_t>(uniform_of(key ^ 1) * std::ranges::count(unused, true));
    for (std::size_t feature = 0; feature < unused.size(); ++feature)
        if (unused[feature] && skipped-- == 0) return feature;
    return -1;
}

// Return the largest code on the left of a cut, each of so many with the same chance.
inline std::int64_t cut_of(std::uint64_t key, std::int64_t n_cuts) {
    return static_cast<std::int64_t>(uniform_of(mix_bits(key)) * n_cuts);
}

// Return the key of a child.
inline std::uint64_t child_key(std::uint64_t key, std::uint64_t which) { return mix_bits(key + which + 3); }

// Return the label of a row whose path ends in a key.
//
// `path_features`, with room for every level, is filled with the features that the path asks in the full tree, the
// root's first, and -1 behind them.
inline std::int64_t label_below(std::span<const std::int64_t> n_cuts, std::span<const Node> nodes,
                                std::span<const double> values, std::size_t n_classes,
                                std::span<std::int64_t> path_features) {
    std::vector<bool> unused(values.size(), true);
    std::ranges::fill(path_features, -1);
    std::size_t i = 0;
    while (nodes[i].decides != LEAF) {
        const Node& node = nodes[i];
        path_features[node.depth] = node.feature;
        if (node.decides == BY_VALUE) unused[node.feature] = false;
        i = node.child + (node.decides == BY_VALUE ? static_cast<std::size_t>(values[node.feature])
                                                   : values[node.feature] > node.cut);
    }
    const int first_level = nodes[i].depth, n_levels = nodes[i].label;
    check_least("levels of a path", path_features.size(), first_level + std::max(n_levels, 0));
    std::uint64_t key = nodes[i].key;
    for (int level = 0; level < n_levels && std::ranges::find(unused, true) != unused.end(); ++level) {
        const auto feature = feature_of(key, unused);
        path_features[first_level + level] = feature;
        auto which = std::int64_t{category_of(values[feature], MOST_NODES)};
        if (n_cuts[feature] > 0)
            which = which > cut_of(key, n_cuts[feature]);
        else
            unused[feature] = false;
        key = child_key(key, which);
    }
    return static_cast<std::int64_t>(uniform_of(key ^ 2) * n_classes);
}

// Let one tree vote for every row; where a node is a key, grow the row's path below it.
//
// There every unused feature has the same chance, and so has every cut of a continuous one and every class, as for any
// mechanism whose scores are all equal.
inline void add_votes_on_demand(std::span<const std::int64_t> n_cuts, std::span<const Node> nodes,
                                Matrix<const double> matrix, Matrix<double> votes) {
    check_size("n_cuts", n_cuts.size(), matrix.n_columns);
    const auto leaves = find_leaves_for(nodes, matrix, votes);
    std::vector<std::int64_t> path_features(MAX_DEPTH);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) {
        const Node& leaf = nodes[leaves[row]];
        if (leaf.key == 0) {
            vote(leaf, votes.row(row));
        } else {
            note_steps(MAX_DEPTH * matrix.n_columns);
            votes(row, label_below(n_cuts, nodes, matrix.row(row), votes.n_columns, path_features)) += 1.0;
        }
    }
}

}  // namespace dp_replica
