// What all private forests share: the rows of a tree, and the labels of its leaves.
#pragma once

#include <numeric>

#include "forests/engine/tree.h"
#include "mechanisms.h"

namespace dp_replica {

// Label a leaf with the largest of its noisy class counts (Laplace, sensitivity 1); returns these counts.
inline std::vector<double> label_leaf(
    Growth& tree, std::size_t i, std::span<const double> counts, double epsilon, const Generator& rng) {
    auto noisy = laplace_vector(counts, 1.0, epsilon, rng);
    tree.nodes[i].label = static_cast<std::int32_t>(std::ranges::max_element(noisy) - noisy.begin());
    tree.nodes[i].epsilon += epsilon;
    return noisy;
}

// Draw the label of a leaf by permute-and-flip: its class counts are monotone, with sensitivity 1.
//
// The largest of the counts with one-sided noise of scale 1 / epsilon: no noisy maximum needs less.
inline void draw_label(
    Growth& tree, std::size_t i, std::span<const double> counts, double epsilon, const Generator& rng) {
    tree.nodes[i].label = static_cast<std::int32_t>(permute_and_flip(counts, 1.0, epsilon, rng, true));
    tree.nodes[i].epsilon += epsilon;
}

// Sort n rows out of n by counting each, in two fifths of the time of np.bincount and np.repeat.
//
// `times` holds n zeros, and `ordered` four places more than the n rows that are written into it.
inline void sort_rows(
    std::span<const std::int64_t> drawn, std::span<std::uint32_t> times, std::span<std::uint32_t> ordered) {
    check_size("rows to count", times.size(), drawn.size());
    check_least("places for sorted rows", ordered.size(), drawn.size() + 4);
    for (const auto& row : drawn) {
        if (!is_below(row, times.size())) refuse_number("drawn row", &row - drawn.data(), row, times.size());
        ++times[row];
    }
    check_size("rows that are counted", std::accumulate(times.begin(), times.end(), std::size_t{0}), drawn.size());
    std::uint32_t* end = ordered.data();
    for (std::uint32_t row = 0; row < times.size(); ++row) {
        // Processors guess wrongly how often to repeat a row: four are written, the next row overwrites the rest.
        end[0] = end[1] = end[2] = end[3] = row;
        for (std::uint32_t k = 4; k < times[row]; ++k) end[k] = row;
        end += times[row];
    }
}

using Rows = std::vector<std::uint32_t>;

// Draw n rows out of n, in order.
inline Rows draw_sample(std::size_t n_rows, const Generator& rng) {
    std::vector<std::int64_t> drawn(n_rows);
    std::ranges::generate(drawn, [&] { return rng.integers(0, n_rows); });
    Rows times(n_rows), ordered(n_rows + 4);
    sort_rows(drawn, times, ordered);
    ordered.resize(n_rows);
    return ordered;
}

// Draw the rows of each tree with replacement.
inline std::vector<Rows> draw_with_replacement(std::size_t n_rows, std::size_t n_trees, const Generator& rng) {
    std::vector<Rows> samples(n_trees);
    std::ranges::generate(samples, [&] { return draw_sample(n_rows, rng); });
    return samples;
}

// Let every record draw its tree by itself: one record more changes nothing for the others.
inline std::vector<Rows> draw_disjoint_parts(std::size_t n_rows, std::size_t n_trees, const Generator& rng) {
    std::vector<Rows> parts(n_trees);
    for (std::uint32_t row = 0; row < n_rows; ++row) parts[rng.integers(0, n_trees)].push_back(row);
    return parts;
}

// Give each tree all rows.
inline std::vector<Rows> take_all_rows(std::size_t n_rows, std::size_t n_trees, const Generator&) {
    Rows all(n_rows);
    std::iota(all.begin(), all.end(), 0);
    return std::vector<Rows>(n_trees, all);
}

}  // namespace dp_replica
