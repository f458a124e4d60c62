// How deep a tree of a sound variant grows: as deep as its rows last. See engine/depth.py.
#pragma once

#include "forests/engine/tree.h"
#include "mechanisms.h"

namespace dp_replica {

constexpr double COUNT_SHARE = 0.05;    // part of the budget of a tree that pays for the number of its rows
constexpr double ROWS_OF_A_LEAF = 5.0;  // rows that a leaf should have on average, times the budget of the tree

// What is public of how deep a tree may grow.
struct Reach {
    double epsilon;     // budget of the tree, the count included
    double n_children;  // of a split, on average
    int most;           // levels of splits that were asked for
};

// Return how many levels leave ROWS_OF_A_LEAF / epsilon of so many rows to a leaf: from 1 to those asked for.
inline int affordable_levels(const Reach& reach, double n_rows) {
    const double n_leaves = std::max(n_rows, 1.0) * reach.epsilon / ROWS_OF_A_LEAF;
    int levels = std::min(reach.most, 1);
    while (levels < reach.most && std::pow(reach.n_children, levels + 1) <= n_leaves) ++levels;
    return levels;
}

// Count the rows of a tree with noise; returns how many levels of splits they last.
//
// The root bears the noisy number and pays for it: COUNT_SHARE of the budget (sensitivity 1). The tree may spend the
// rest, whatever its depth: both see the same rows, so that their costs add up to the budget.
inline int count_rows(Growth& tree, const Reach& reach, const Generator& rng) {
    Node& root = tree.nodes[0];
    const double epsilon = COUNT_SHARE * reach.epsilon;
    root.noisy_count = laplace(static_cast<double>(tree.rows_of(0).size()), 1.0, epsilon, rng);
    root.epsilon += epsilon;
    return affordable_levels(reach, root.noisy_count);
}

// Return what the count leaves of the budget of a tree.
inline double after_count(const Reach& reach) { return reach.epsilon * (1.0 - COUNT_SHARE); }

}  // namespace dp_replica
