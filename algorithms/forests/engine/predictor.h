// Sending rows down a grown tree.
#pragma once

#include <bit>
#include <memory>
#include <numeric>

#include "forests/engine/tree.h"

namespace dp_replica {

constexpr std::size_t BLOCK = 256;  // rows that descend in step: enough to hide the wait for memory, few for the cache

// A tree as rows ask it: a leaf is its own first child and cuts at infinity.
struct Questions {
    std::size_t n_nodes, n_columns;
    std::vector<std::uint32_t> feature;
    std::unique_ptr<std::uint32_t[]> child;
    std::vector<double> cut;  // of BY_VALUE the bits of how many children there are
    std::vector<std::uint8_t> decides;

    Questions(std::size_t n_nodes, std::size_t n_columns)
        : n_nodes(n_nodes), n_columns(n_columns), feature(n_nodes),
          child(std::make_unique_for_overwrite<std::uint32_t[]>(n_nodes)), cut(n_nodes, INF), decides(n_nodes, BELOW) {
        check(n_nodes > 0 && n_columns > 0, "a tree needs a node, and rows need a column, for a row to go down");
        std::iota(child.get(), child.get() + n_nodes, 0);
    }
    // Let node i ask a column, whose values lead to so many nodes, all of them behind it: no row goes in a circle.
    void ask(std::size_t i, std::int64_t column, std::int64_t first_child, std::int64_t n_children, double at,
             std::uint8_t how) {
        const bool are_behind = first_child > std::int64_t(i) && first_child + n_children <= std::int64_t(n_nodes);
        if (!is_below(column, n_columns)) refuse_question(i, column, first_child, n_children);
        if (!are_behind || n_children < 2 - (how == BY_VALUE)) refuse_question(i, column, first_child, n_children);
        feature[i] = static_cast<std::uint32_t>(column), child[i] = static_cast<std::uint32_t>(first_child);
        const double either[] = {at, std::bit_cast<double>(n_children)};  // no branch, that processors would guess wrong
        cut[i] = either[how == BY_VALUE], decides[i] = how;
    }
    [[noreturn, gnu::cold, gnu::noinline]] void refuse_question(
        std::size_t i, std::int64_t column, std::int64_t first, std::int64_t n) const {
        refuse("node " + std::to_string(i) + " asks column " + std::to_string(column) + " of " +
               std::to_string(n_columns) + " and leads to " + std::to_string(n) + " nodes from " + std::to_string(first) +
               " on, not all of them behind it in a tree of " + std::to_string(n_nodes));
    }
};

// Let every row take `depth` steps from node 0; returns where it ends.
//
// All rows of a block take one step before any takes the next, without a branch to mispredict or a step to wait for.
inline std::vector<std::uint32_t> descend_tree(const Questions& tree, int depth, Matrix<const double> matrix) {
    std::vector<std::uint32_t> at(matrix.n_rows);
    const std::uint32_t *feature = tree.feature.data(), *child = tree.child.get();
    const double* cut = tree.cut.data();
    const std::uint8_t* decides = tree.decides.data();
    for (std::size_t start = 0; start < matrix.n_rows; start += BLOCK) {
        const std::size_t end = std::min(start + BLOCK, matrix.n_rows);
        note_steps((end - start) * depth);
        for (int level = 0; level < depth; ++level)
            for (std::size_t row = start; row < end; ++row) {
                const auto i = at[row];
                const double value = matrix(row, feature[i]);
                if (decides[i] == BELOW)
                    at[row] = child[i] + (value > cut[i]);
                else if (decides[i] == EQUALS)
                    at[row] = child[i] + (value != cut[i]);
                else if (decides[i] == BY_VALUE)
                    at[row] = child[i] + category_of(value, std::bit_cast<std::uint64_t>(cut[i]));
                else
                    at[row] = child[i] + !is_among(category_of(value, MOST_GROUPED), static_cast<std::int64_t>(cut[i]));
            }
    }
    return at;
}

// Find the leaf of every row.
inline std::vector<std::uint32_t> find_leaves(std::span<const Node> nodes, Matrix<const double> matrix) {
    Questions tree(nodes.size(), matrix.n_columns);
    const int depth = nodes.back().depth;
    check(depth <= MAX_DEPTH, "a tree is deeper than any that grows");
    auto end = std::ssize(nodes);  // of the children: they follow those of the node before
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = nodes[i];
        if (node.decides == LEAF) continue;
        if (!is_below(node.depth, depth)) refuse_number("the depth of node", i, node.depth, depth);
        tree.ask(i, node.feature, node.child, end - node.child, node.cut, node.decides);
        end = node.child;
    }
    return descend_tree(tree, depth, matrix);
}

// Find the leaves of rows each of which has a place for what its leaf says.
inline std::vector<std::uint32_t> find_leaves_for(
    std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> sums) {
    check_size("rows of the sums", sums.n_rows, matrix.n_rows);
    return find_leaves(nodes, matrix);
}

// Let a leaf vote for its label.
inline void vote(const Node& leaf, std::span<double> votes) {
    if (!is_below(leaf.label, votes.size())) refuse_number("the label of a leaf", 0, leaf.label, votes.size());
    votes[leaf.label] += 1.0;
}

// Let one tree vote for every row: add 1 to votes(row, label of its leaf).
inline void add_votes(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> votes) {
    const auto leaves = find_leaves_for(nodes, matrix, votes);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) vote(nodes[leaves[row]], votes.row(row));
}

// Let one tree say of every row how likely each class is: add the shares of its leaf.
inline void add_shares(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> sums) {
    const auto leaves = find_leaves_for(nodes, matrix, sums);
    check_least("nodes with shares", nodes.size(), sums.n_columns);
    const std::size_t n_places = nodes.size() - sums.n_columns + 1;
    for (std::size_t row = 0; row < matrix.n_rows; ++row) {
        const auto first = nodes[leaves[row]].child;
        if (!is_below(first, n_places)) refuse_number("the first share of node", leaves[row], first, n_places);
        const auto shares = nodes.subspan(first, sums.n_columns);
        for (std::size_t c = 0; c < shares.size(); ++c) sums(row, c) += shares[c].value;
    }
}

// Let one regression tree predict every row: add the value of its leaf to sums(row, 0).
inline void add_values(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> sums) {
    const auto leaves = find_leaves_for(nodes, matrix, sums);
    check_least("columns of the sums", sums.n_columns, 1);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) sums(row, 0) += nodes[leaves[row]].value;
}

}  // namespace dp_replica
