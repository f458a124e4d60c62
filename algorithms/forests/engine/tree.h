// A tree, and how it grows, level by level.
//
// While it grows, the rows of a node lie next to each other, class after class, so that counting its classes is a
// subtraction. Nodes are appended in breadth-first order: a grower visits node 0, 1, 2, ... until none is left.
#pragma once

#include <algorithm>
#include <memory>

#include "forests/engine/table.h"
#include "native/checks.h"
#include "native/stopping.h"

namespace dp_replica {

enum Decides : std::int8_t { LEAF, BELOW, EQUALS, BY_VALUE, AMONG };

// Tell whether a code is one of some codes, given as the sum of 2^j over these codes j.
inline bool is_among(std::int64_t value, std::int64_t codes) { return (codes >> value & 1) == 1; }

struct TooManyNodes : std::runtime_error {  // a ParameterError in Python
    using std::runtime_error::runtime_error;
};

#pragma pack(push, 1)
struct Node {  // node_type of engine/tree.py
    std::int8_t decides = LEAF;
    std::int16_t depth = 0;
    std::int32_t feature = -1;
    double cut = NaN;
    std::int32_t child = -1;
    std::int32_t label = 0;
    double value = NaN;
    double noisy_count = NaN;
    double epsilon = 0.0;
    bool exact = false;
    std::uint64_t key = 0;
};
#pragma pack(pop)
static_assert(sizeof(Node) == 56);

class Growth {
public:
    std::vector<Node> nodes;

    // Begin a tree that consists of a root with all its rows.
    template <class Code>
    Growth(const Table<Code>& table, std::span<const std::uint32_t> rows)
        : n_classes_(table.n_classes),
          rows_(std::make_unique_for_overwrite<std::uint32_t[]>(rows.size())),
          buffer_(std::make_unique_for_overwrite<std::uint32_t[]>(rows.size())) {
        append_node(-1);
        std::vector<std::int64_t> ends(n_classes_ + 1);
        check_below("row", rows, table.labels.size());
        for (auto row : rows) {
            const std::size_t label = table.labels[row];
            if (label >= n_classes_) refuse_number("label", row, label, n_classes_);
            ++ends[label + 1];
        }
        note_steps(2 * rows.size());
        for (std::size_t c = 0; c < n_classes_; ++c) run(0, c + 1) = ends[c + 1] += ends[c];
        for (auto row : rows) rows_[ends[table.labels[row]]++] = row;
    }

    std::size_t n_classes() const { return n_classes_; }
    std::span<const std::uint32_t> rows_of(std::size_t i) const { return rows_between(run(i, 0), run(i, n_classes_)); }
    std::span<const std::uint32_t> rows_of_class(std::size_t i, std::size_t c) const {
        return rows_between(run(i, c), run(i, c + 1));
    }
    std::int64_t parent(std::size_t i) const { return parents_[i]; }

    // Give node i two children: left the rows whose code is at most, equals, or is among `code`.
    template <class Code>
    void split_in_two(const Table<Code>& table, std::size_t i, std::int64_t feature, Decides decides,
                      std::int64_t code, double cut) {
        const Code* column = table.codes.row(feature).data();
        if (decides == AMONG)
            divide_rows(i, [=](auto row) { return is_among(column[row], code); });
        else if (decides == EQUALS)
            divide_rows(i, [=](auto row) { return column[row] == code; });
        else
            divide_rows(i, [=](auto row) { return column[row] <= code; });
        ask(i, decides, feature, cut, nodes.size() - 2);
    }

    // Give node i one child for every code that the feature can take.
    template <class Code>
    void split_by_value(const Table<Code>& table, std::size_t i, std::int64_t feature) {
        const Code* column = table.codes.row(feature).data();
        const std::size_t first = nodes.size(), n_children = table.n_codes[feature];
        note_steps(2 * rows_of(i).size() + n_children * (n_classes_ + 1));
        Grid<std::int64_t> ends(n_children, n_classes_ + 1);  // of each run, shifted by one: where the next begins
        for (std::size_t c = 0; c < n_classes_; ++c)
            for (auto row : rows_of_class(i, c)) ++ends(column[row], c + 1);
        std::int64_t start = run(i, 0);
        for (std::size_t code = 0; code < n_children; ++code) {
            ends(code, 0) = start;
            for (std::size_t c = 0; c < n_classes_; ++c) ends(code, c + 1) += ends(code, c);
            start = ends(code, n_classes_);
            append_node(i);
            std::ranges::copy(ends.row(code), &run(first + code, 0));
        }
        const auto rows = rows_of(i);
        std::ranges::copy(rows, buffer_.get());
        for (std::size_t c = 0; c < n_classes_; ++c)
            for (auto position = run(i, c); position < run(i, c + 1); ++position) {
                const auto row = buffer_[position - run(i, 0)];
                rows_[ends(column[row], c)++] = row;
            }
        ask(i, BY_VALUE, feature, NaN, first);
    }

    // Split node i in two below a cut if the feature is continuous, else by value.
    template <class Code>
    void split_by_kind(
        const Table<Code>& table, std::size_t i, std::int64_t feature, std::int64_t code, double cut) {
        if (table.is_continuous[feature])
            split_in_two(table, i, feature, BELOW, code, cut);
        else
            split_by_value(table, i, feature);
    }

    // Take away what node i asks; the nodes below stay, where nothing leads to them.
    void make_leaf(std::size_t i) { ask(i, LEAF, -1, NaN, -1); }

    // Return the features that no BY_VALUE node above node i has used up.
    std::vector<std::int64_t> unused_features(std::size_t i, std::size_t n_features) const {
        note_steps(n_features);
        std::vector<bool> is_used(n_features);
        for (auto above = parents_[i]; above >= 0; above = parents_[above])
            if (nodes[above].decides == BY_VALUE) is_used[nodes[above].feature] = true;
        std::vector<std::int64_t> unused;
        for (std::size_t feature = 0; feature < n_features; ++feature)
            if (!is_used[feature]) unused.push_back(feature);
        return unused;
    }

private:
    std::size_t n_classes_;
    std::vector<std::int64_t> runs_;  // (nodes, c + 1): where the rows of each class of a node begin, and the end
    std::vector<std::int64_t> parents_;
    std::unique_ptr<std::uint32_t[]> rows_, buffer_;

    std::int64_t& run(std::size_t i, std::size_t c) { return runs_[i * (n_classes_ + 1) + c]; }
    std::int64_t run(std::size_t i, std::size_t c) const { return runs_[i * (n_classes_ + 1) + c]; }
    std::span<const std::uint32_t> rows_between(std::int64_t start, std::int64_t end) const {
        return {rows_.get() + start, rows_.get() + end};
    }

    void append_node(std::int64_t parent) {
        if (nodes.size() == MOST_NODES) throw TooManyNodes("a tree has over 2,147,483,647 nodes: lower max_depth");
        Node node;
        if (parent >= 0) node.depth = nodes[parent].depth + 1;
        nodes.push_back(node);
        parents_.push_back(parent);
        runs_.resize(runs_.size() + n_classes_ + 1);
    }

    void ask(std::size_t i, Decides decides, std::int64_t feature, double cut, std::size_t first_child) {
        Node& node = nodes[i];
        node.decides = decides;
        node.feature = static_cast<std::int32_t>(feature);
        node.cut = cut;
        node.child = static_cast<std::int32_t>(first_child);
    }

    template <class Rule>
    void divide_rows(std::size_t i, Rule goes_left) {
        const std::size_t child = nodes.size();
        note_steps(rows_of(i).size() + n_classes_);
        append_node(i);
        append_node(i);
        std::uint32_t *rows = rows_.get(), *others = buffer_.get();
        std::int64_t left = run(i, 0), right = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            run(child, c) = left, run(child + 1, c) = right;
            for (auto row : rows_of_class(i, c)) {
                // Both stores are done and one is kept: a branch here would be mispredicted half of the time.
                const bool is_left = goes_left(row);
                rows[left] = row;
                others[right] = row;
                left += is_left;
                right += !is_left;
            }
        }
        run(child, n_classes_) = left, run(child + 1, n_classes_) = right;
        std::copy_n(others, right, rows + left);
        for (std::size_t c = 0; c <= n_classes_; ++c) run(child + 1, c) += left;
    }
};

}  // namespace dp_replica
