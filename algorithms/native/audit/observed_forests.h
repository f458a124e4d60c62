// Many trainings of a forest on a tiny table. See experiments/audit/observe/observed_forests.py.
#pragma once

#include "forests/engine/lazy.h"
#include "forests/forest.h"
#include "forests/rdt.h"
#include "mechanisms.h"
#include "native/audit/trainings.h"

namespace dp_replica::audit {

enum Side { QUESTION, LABEL, WAY, TREE };

// What a forest is trained on, and how often; what is seen of tree t of training i goes to row i * n_trees + t.
struct Trainings {
    std::size_t n_rows, n_trees;
    std::uint64_t first, n;
    Matrix<std::int64_t> codes;
    Matrix<double> numbers;
};

// What all trees of a forest are looked at with.
struct Probing {
    int deepest;
    std::size_t n_classes;
    std::vector<std::int64_t> n_cuts;  // public cuts of a continuous column, 0 of a nominal one
    Matrix<const double> probes;       // rows as the trees see them, those that differ first
};

// Return the child of a node that a row goes to.
inline std::size_t find_child(std::span<const Node> nodes, std::size_t i, std::span<const double> values) {
    const Node& node = nodes[i];
    const double value = values[node.feature];
    if (node.decides == BELOW) return node.child + (value > node.cut);
    if (node.decides == EQUALS) return node.child + (value != node.cut);
    if (node.decides == AMONG)
        return node.child + !is_among(static_cast<std::int64_t>(value), static_cast<std::int64_t>(node.cut));
    return node.child + static_cast<std::size_t>(value);
}

// Return a number for what a node asks; cuts between the same values of the probes are the same question.
inline std::int64_t number_question(const Node& node, Matrix<const double> probes) {
    std::int64_t below = 0, at = 0;
    if (node.decides != BY_VALUE)
        for (std::size_t p = 0; p < probes.n_rows; ++p) {
            below += probes(p, node.feature) < node.cut;
            at += probes(p, node.feature) == node.cut;
        }
    return node.decides + 4 * (node.feature + 1024 * (below + 1024 * at));
}

// Return the node at which a row ends, and a number for the questions on its way.
inline std::pair<std::size_t, std::uint64_t> follow_row(
    std::span<const Node> nodes, Matrix<const double> probes, std::size_t p) {
    std::size_t i = 0;
    std::uint64_t way = 0;
    while (nodes[i].decides != LEAF) {
        way = mix_bits(way ^ number_question(nodes[i], probes));
        i = find_child(nodes, i, probes.row(p));
    }
    return {i, way};
}

// Note the noisy counts on the way of a row, and its value, but not those of nodes on a way that was noted before.
//
// `first_way`, with the node of each level, is filled by the first row.
inline void note_numbers(std::span<const Node> nodes, std::span<const double> values,
                         std::vector<std::size_t>& first_way, std::span<double> numbers) {
    const bool is_first = first_way.empty();
    for (std::size_t i = 0;; i = find_child(nodes, i, values)) {
        const std::size_t depth = nodes[i].depth;
        const bool is_new = is_first || depth >= first_way.size() || first_way[depth] != i;
        if (is_first) first_way.push_back(i);
        if (is_new) numbers[depth] = nodes[i].noisy_count;
        if (nodes[i].decides != LEAF) continue;
        if (is_new) numbers.back() = nodes[i].value;
        return;
    }
}

// Return the number of the root's question, -1 if it asks none; `asked` is what lies below a root with a key.
inline std::int64_t number_first_question(
    std::span<const Node> nodes, std::span<const std::int64_t> asked, Matrix<const double> probes) {
    if (nodes[0].decides != LEAF) return number_question(nodes[0], probes);
    return nodes[0].key != 0 && asked[0] >= 0 ? BY_VALUE + 4 * asked[0] : -1;
}

// Note what a tree does with the probes.
//
// Numbers are the noisy counts on the way of each record that differs, then its value: those of the second only from
// where it leaves the first.
inline void note_tree(
    std::span<const Node> nodes, const Probing& probing, std::span<std::int64_t> codes, std::span<double> numbers) {
    const auto& probes = probing.probes;
    check(!nodes.empty() && nodes.back().depth <= probing.deepest, "a tree is deeper than its plan");
    check_least("places for the sides of a tree", codes.size(), TREE + 1);
    std::vector<std::int64_t> asked(probing.deepest + 1);
    std::vector<std::size_t> first_way;
    const std::size_t n_numbers = probing.deepest + 2, n_differing = numbers.size() / n_numbers;
    std::uint64_t tree = 0;
    for (std::size_t p = 0; p < probes.n_rows; ++p) {
        auto [i, way] = follow_row(nodes, probes, p);
        std::int64_t label = nodes[i].label;
        if (nodes[i].key != 0) {
            label = label_below(probing.n_cuts, nodes, probes.row(p), probing.n_classes, asked);
            for (int depth = nodes[i].depth; depth < probing.deepest; ++depth)
                if (asked[depth] >= 0) way = mix_bits(way ^ (BY_VALUE + 4 * asked[depth]));
        }
        if (p < n_differing) note_numbers(nodes, probes.row(p), first_way, numbers.subspan(p * n_numbers, n_numbers));
        if (p == 0) {
            codes[QUESTION] = number_first_question(nodes, asked, probes);
            codes[LABEL] = label;
            codes[WAY] = static_cast<std::int64_t>(mix_bits(way ^ label) >> 1);
        }
        tree = mix_bits(tree ^ mix_bits(way ^ label));
    }
    codes[TREE] = static_cast<std::int64_t>(tree >> 1);
}

// Note the noisy counts of some classes where the record ends; the questions of a random tree read no row.
inline void note_random_tree(const rdt::Tree& tree, const rdt::Plan& plan, Matrix<const double> probes,
                             std::span<const std::int64_t> classes, std::span<double> numbers) {
    std::vector<double> sums(plan.n_classes);
    const Matrix<const double> counts{
        tree.noisy_counts.data(), tree.noisy_counts.size() / plan.n_classes, plan.n_classes};
    const Matrix<const double> record{probes.first, 1, probes.n_columns};
    rdt::add_counts(plan, tree.key, tree.nodes, counts, record, {sums.data(), 1, sums.size()});
    check_least("places for the counts of classes", numbers.size(), classes.size());
    check_below("class", classes, sums.size());
    for (std::size_t j = 0; j < classes.size(); ++j) numbers[j] = sums[classes[j]];
}

// Train a forest n times, by a sampling rule, and by what grows a tree of its rows and notes what is seen of it.
template <class Sample, class GrowAndNote>
void train_forests(const Trainings& trainings, const RandomStream& stream, Sample sample, GrowAndNote grow_and_note) {
    check_least("trees", trainings.n_trees, 1);
    for (std::uint64_t i = 0; i < trainings.n; ++i) {
        begin_training(stream, trainings.first + i);
        const auto samples = sample(trainings.n_rows, trainings.n_trees, stream.rng);
        for (std::size_t t = 0; t < trainings.n_trees; ++t) {
            const std::size_t place = i * trainings.n_trees + t;
            grow_and_note(samples[t], trainings.codes.row(place), trainings.numbers.row(place));
        }
    }
}

}  // namespace dp_replica::audit
