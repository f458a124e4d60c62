// Sending rows down a grown tree.
#pragma once

#include <numeric>

#include "forests/engine/tree.h"

namespace dp_replica {

constexpr std::size_t BLOCK = 256;  // rows that descend in step: enough to hide the wait for memory, few for the cache

// A tree as rows ask it: a leaf is its own first child and cuts at infinity.
struct Questions {
    std::vector<std::uint32_t> feature, child;
    std::vector<double> cut;
    std::vector<std::uint8_t> decides;

    explicit Questions(std::size_t n_nodes) : feature(n_nodes), child(n_nodes), cut(n_nodes, INF), decides(n_nodes, BELOW) {
        std::iota(child.begin(), child.end(), 0);
    }
    void ask(std::size_t i, std::uint32_t column, std::uint32_t first_child, double at, std::uint8_t how) {
        feature[i] = column, child[i] = first_child, cut[i] = at, decides[i] = how;
    }
};

// Let every row take `depth` steps from node 0; returns where it ends.
//
// All rows of a block take one step before any takes the next, without a branch to mispredict or a step to wait for.
inline std::vector<std::uint32_t> descend_tree(const Questions& tree, int depth, Matrix<const double> matrix) {
    std::vector<std::uint32_t> at(matrix.n_rows);
    const std::uint32_t *feature = tree.feature.data(), *child = tree.child.data();
    const double* cut = tree.cut.data();
    const std::uint8_t* decides = tree.decides.data();
    for (std::size_t start = 0; start < matrix.n_rows; start += BLOCK) {
        const std::size_t end = std::min(start + BLOCK, matrix.n_rows);
        for (int level = 0; level < depth; ++level)
            for (std::size_t row = start; row < end; ++row) {
                const auto i = at[row];
                const double value = matrix(row, feature[i]);
                if (decides[i] == BELOW)
                    at[row] = child[i] + (value > cut[i]);
                else if (decides[i] == EQUALS)
                    at[row] = child[i] + (value != cut[i]);
                else if (decides[i] == BY_VALUE)
                    at[row] = child[i] + static_cast<std::uint32_t>(value);
                else
                    at[row] = child[i] + !is_among(static_cast<std::int64_t>(value), static_cast<std::int64_t>(cut[i]));
            }
    }
    return at;
}

// Find the leaf of every row.
inline std::vector<std::uint32_t> find_leaves(std::span<const Node> nodes, Matrix<const double> matrix) {
    Questions tree(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].decides != LEAF) tree.ask(i, nodes[i].feature, nodes[i].child, nodes[i].cut, nodes[i].decides);
    return descend_tree(tree, nodes.back().depth, matrix);
}

// Let one tree vote for every row: add 1 to votes(row, label of its leaf).
inline void add_votes(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> votes) {
    const auto leaves = find_leaves(nodes, matrix);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) votes(row, nodes[leaves[row]].label) += 1.0;
}

// Let one tree say of every row how likely each class is: add the shares of its leaf.
inline void add_shares(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> sums) {
    const auto leaves = find_leaves(nodes, matrix);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) {
        const auto shares = nodes.subspan(nodes[leaves[row]].child, sums.n_columns);
        for (std::size_t c = 0; c < shares.size(); ++c) sums(row, c) += shares[c].value;
    }
}

// Let one regression tree predict every row: add the value of its leaf to sums(row, 0).
inline void add_values(std::span<const Node> nodes, Matrix<const double> matrix, Matrix<double> sums) {
    const auto leaves = find_leaves(nodes, matrix);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) sums(row, 0) += nodes[leaves[row]].value;
}

}  // namespace dp_replica
