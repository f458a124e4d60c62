// RDT: private random decision trees (Jagannathan, Pillaipakkamnatt, Wright, 2009).
//
// Trees are drawn without looking at the rows; only the class counts of the leaves are. All that is random in the full
// tree, questions and noise, is a function of the key of a node: the nodes that training rows reach are grown by fit,
// any other when predict comes to it.
#pragma once

#include "forests/engine/lazy.h"
#include "mechanisms.h"

namespace dp_replica::rdt {

constexpr std::int32_t UNASKED = -1, EXHAUSTED = -2;  // no row has needed a question; no feature is left to ask

struct Question {  // question_type of rdt.py; 16 bytes, which never reach into the next cache line
    double cut = NaN;                // threshold of a continuous feature, else NaN
    std::int32_t child = -1;         // first child, the others follow; of a leaf its row of counts, -1 without rows
    std::int32_t feature = UNASKED;  // column that is asked, negative in a leaf
};
static_assert(sizeof(Question) == 16);

// What is public of a tree, and its budget.
struct Plan {
    int max_depth;
    double epsilon;                            // of a leaf
    std::span<const std::int64_t> n_children;  // one for each category of a nominal column, 2 of a continuous one
    std::span<const bool> is_continuous;
    std::span<const double> lower, width;  // of the public range of a continuous column
    std::size_t n_classes;
};

struct Tree {
    std::uint64_t key;  // of the root
    std::vector<Question> nodes;
    std::vector<double> noisy_counts;  // (leaves in which training rows ended, or all, classes)
};

// A tree while it grows.
struct Growing {
    std::vector<Question> nodes;
    std::vector<std::uint64_t> keys;
    std::vector<std::int32_t> parents;

    void append_node(std::uint64_t key, std::int32_t parent) {
        nodes.emplace_back();
        keys.push_back(key);
        parents.push_back(parent);
    }
};

inline std::uint64_t draw_key(const Generator& rng) { return rng.integers(0, (std::uint64_t{1} << 63) - 1); }

// Check that rows have the columns of a plan, and these the children that a question leads to.
inline void check_columns(const Plan& plan, Matrix<const double> matrix) {
    const std::size_t k = matrix.n_columns;
    for (auto n : {plan.n_children.size(), plan.is_continuous.size(), plan.lower.size(), plan.width.size()})
        check_size("columns of the plan", n, k);
    for (std::size_t j = 0; j < k; ++j)
        check(plan.n_children[j] >= (plan.is_continuous[j] ? 2 : 1), "a column of the plan has no children");
}

// Check that all training rows have a class, too.
inline void check_rows(const Plan& plan, Matrix<const double> matrix, std::span<const std::int64_t> labels) {
    check_columns(plan, matrix);
    check_size("labels", labels.size(), matrix.n_rows);
    check_below("label", labels, plan.n_classes);
}

// Return the random question of a node: a feature that the path has left, and a cut if it is continuous.
inline std::pair<std::int32_t, double> draw_question(
    const Plan& plan, std::uint64_t key, const std::vector<bool>& unused) {
    const auto feature = static_cast<std::int32_t>(feature_of(key, unused));
    if (!plan.is_continuous[feature]) return {feature, NaN};
    return {feature, plan.lower[feature] + uniform_of(key ^ 2) * plan.width[feature]};
}

// Return a class count of a leaf with noise.
inline double noisy_count(const Plan& plan, std::uint64_t key, std::size_t c, double count) {
    return laplace_of(mix_bits(key) + c, count, 1.0, plan.epsilon);
}

// Ask a node for the first time and append its children.
inline void branch_node(const Plan& plan, Growing& tree, std::uint32_t i) {
    std::vector<bool> unused(plan.is_continuous.size(), true);
    for (auto above = tree.parents[i]; above >= 0; above = tree.parents[above])
        unused[tree.nodes[above].feature] = plan.is_continuous[tree.nodes[above].feature];
    if (std::ranges::find(unused, true) == unused.end()) {
        tree.nodes[i].feature = EXHAUSTED;
        return;
    }
    const auto key = tree.keys[i];
    const auto [feature, cut] = draw_question(plan, key, unused);
    tree.nodes[i] = {cut, static_cast<std::int32_t>(tree.nodes.size()), feature};
    const std::size_t n_nodes = tree.nodes.size() + plan.n_children[feature];
    if (n_nodes > MOST_NODES) throw TooManyNodes("a tree has over 2,147,483,647 nodes: lower max_depth");
    note_steps(plan.is_continuous.size() + plan.n_children[feature]);
    for (std::int64_t which = 0; which < plan.n_children[feature]; ++which)
        tree.append_node(child_key(key, which), i);
}

// Let the rows of a block step down, but those in leaves; a node without a question gets one first.
inline void go_down(const Plan& plan, Growing& tree, Matrix<const double> matrix, std::size_t start,
                    std::span<std::uint32_t> here) {
    for (std::size_t j = 0; j < here.size(); ++j) {
        if (tree.nodes[here[j]].feature == UNASKED) branch_node(plan, tree, here[j]);
        const auto& node = tree.nodes[here[j]];
        if (node.feature < 0) continue;
        const double value = matrix(start + j, node.feature);
        here[j] = node.child + (std::isnan(node.cut) ? category_of(value, plan.n_children[node.feature]) : value > node.cut);
    }
}

// Grow the nodes of a random tree that rows reach; returns the node where each row ends.
//
// Rows go down a block at a time, all rows of a block a step each before any takes the next, see descend_tree.
inline std::vector<std::uint32_t> grow_where_rows_go(const Plan& plan, Growing& tree, Matrix<const double> matrix) {
    std::vector<std::uint32_t> at(matrix.n_rows);
    for (std::size_t start = 0; start < matrix.n_rows; start += BLOCK) {
        const std::size_t n = std::min(BLOCK, matrix.n_rows - start);
        note_steps(n * plan.max_depth);
        for (int depth = 0; depth < plan.max_depth; ++depth)
            go_down(plan, tree, matrix, start, {at.data() + start, n});
    }
    return at;
}

// Return the grown tree with the noisy class counts of the leaves in which rows have ended.
inline Tree with_counts(const Plan& plan, std::span<const std::int64_t> labels, std::span<const std::uint32_t> at,
                        const Growing& grown) {
    auto nodes = grown.nodes;
    std::int32_t n_leaves = 0;
    for (auto i : at)
        if (nodes[i].child < 0) nodes[i].child = n_leaves++;
    Grid<double> counts(n_leaves, plan.n_classes);
    for (std::size_t row = 0; row < at.size(); ++row) counts(nodes[at[row]].child, labels[row]) += 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].feature >= 0) continue;
        nodes[i].feature = -1;
        if (nodes[i].child < 0) continue;
        auto of_leaf = counts.row(nodes[i].child);
        for (std::size_t c = 0; c < plan.n_classes; ++c) of_leaf[c] = noisy_count(plan, grown.keys[i], c, of_leaf[c]);
    }
    return {grown.keys[0], std::move(nodes), std::move(counts.values())};
}

// Grow the nodes of a random tree that rows reach, and count the classes in its leaves.
inline Tree grow_lazily(
    const Plan& plan, Matrix<const double> matrix, std::span<const std::int64_t> labels, const Generator& rng) {
    check_rows(plan, matrix, labels);
    Growing tree;
    tree.append_node(draw_key(rng), -1);
    const auto at = grow_where_rows_go(plan, tree, matrix);
    return with_counts(plan, labels, at, tree);
}

// Find the node at which every row ends.
inline std::vector<std::uint32_t> find_leaves(
    const Plan& plan, std::span<const Question> nodes, Matrix<const double> matrix) {
    check_columns(plan, matrix);
    constexpr Decides EITHER[] = {BY_VALUE, BELOW};  // no branch, see Questions
    Questions tree(nodes.size(), matrix.n_columns);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto [cut, child, feature] = nodes[i];
        if (feature < 0) continue;
        if (!is_below(feature, matrix.n_columns)) refuse_number("the column of node", i, feature, matrix.n_columns);
        tree.ask(i, feature, child, plan.n_children[feature], cut, EITHER[plan.is_continuous[feature]]);
    }
    return descend_tree(tree, plan.max_depth, matrix);
}

// Return how many nodes are above a node.
inline int depth_of(const Growing& tree, std::size_t i) {
    int depth = 0;
    for (auto above = tree.parents[i]; above >= 0; above = tree.parents[above]) ++depth;
    return depth;
}

// Grow the full tree under a root, a level after the other.
//
// Each node has a key of its own: a cut gives the key that it was drawn from away, and tells of no other then.
inline void grow_below_root(const Plan& plan, Growing& tree, const Generator& rng) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        check_is_small(tree.nodes.size());
        if (tree.nodes[i].feature != UNASKED || depth_of(tree, i) >= plan.max_depth) continue;
        const std::size_t first = tree.nodes.size();
        branch_node(plan, tree, static_cast<std::uint32_t>(i));
        for (std::size_t child = first; child < tree.nodes.size(); ++child) tree.keys[child] = draw_key(rng);
    }
}

// Count the classes in all leaves of a full tree, with noise of the generator instead of noise of keys.
inline std::vector<double> all_noisy_counts(const Plan& plan, std::span<const std::int64_t> labels,
                                            std::span<const std::uint32_t> at, std::vector<Question>& nodes,
                                            const Generator& rng) {
    std::int32_t n_leaves = 0;
    for (Question& node : nodes)
        if (node.feature < 0) node.feature = -1, node.child = n_leaves++;
    Grid<double> counts(n_leaves, plan.n_classes);
    for (std::size_t row = 0; row < at.size(); ++row) counts(nodes[at[row]].child, labels[row]) += 1;
    return laplace_vector(counts.values(), 1.0, plan.epsilon, rng);
}

// Grow all nodes of a random tree, and count the classes in all its leaves, with noise that no key tells.
//
// It is grown before it sees a row: the order of nodes that rows ask for would tell of them.
inline Tree grow_in_full(
    const Plan& plan, Matrix<const double> matrix, std::span<const std::int64_t> labels, const Generator& rng) {
    check_rows(plan, matrix, labels);
    Growing tree;
    tree.append_node(draw_key(rng), -1);
    grow_below_root(plan, tree, rng);
    auto nodes = tree.nodes;
    const auto at = find_leaves(plan, nodes, matrix);
    auto noisy_counts = all_noisy_counts(plan, labels, at, nodes, rng);
    return {tree.keys[0], std::move(nodes), std::move(noisy_counts)};
}

// Return the key of a row's leaf in the full tree, from the key of its root.
inline std::uint64_t leaf_key(const Plan& plan, std::uint64_t key, std::span<const double> values) {
    std::vector<bool> unused(values.size(), true);
    for (int depth = 0; depth < plan.max_depth && std::ranges::find(unused, true) != unused.end(); ++depth) {
        const auto [feature, cut] = draw_question(plan, key, unused);
        unused[feature] = plan.is_continuous[feature];
        const double value = values[feature];
        key = child_key(key, plan.is_continuous[feature] ? value > cut : category_of(value, plan.n_children[feature]));
    }
    return key;
}

// Return the keys of the leaves of some rows.
inline std::vector<std::uint64_t> leaf_keys(const Plan& plan, std::uint64_t root, Matrix<const double> matrix) {
    check_columns(plan, matrix);
    std::vector<std::uint64_t> keys(matrix.n_rows);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) keys[row] = leaf_key(plan, root, matrix.row(row));
    return keys;
}

// Add the noisy class counts of every row's leaf, growing what no training row has reached.
inline void add_counts(const Plan& plan, std::uint64_t root, std::span<const Question> nodes,
                       Matrix<const double> noisy_counts, Matrix<const double> matrix, Matrix<double> sums) {
    check_size("rows of the sums", sums.n_rows, matrix.n_rows);
    check_least("classes of the sums", sums.n_columns, plan.n_classes);
    check_size("classes of the counts", noisy_counts.n_columns, plan.n_classes);
    const auto leaves = find_leaves(plan, nodes, matrix);
    for (std::size_t row = 0; row < matrix.n_rows; ++row) {
        const auto leaf = nodes[leaves[row]].child;
        if (leaf >= 0 && !is_below(leaf, noisy_counts.n_rows))
            refuse_number("the counts of node", leaves[row], leaf, noisy_counts.n_rows);
        if (leaf < 0) note_steps(plan.max_depth * matrix.n_columns);
        const auto key = leaf < 0 ? leaf_key(plan, root, matrix.row(row)) : 0;
        for (std::size_t c = 0; c < plan.n_classes; ++c)
            sums(row, c) += leaf < 0 ? noisy_count(plan, key, c, 0.0) : noisy_counts(leaf, c);
    }
}

}  // namespace dp_replica::rdt
