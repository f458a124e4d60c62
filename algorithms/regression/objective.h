// The objective of least squares as a polynomial in the weights, and its private release.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "mechanisms.h"
#include "native/checks.h"
#include "native/stopping.h"

namespace dp_replica::regression {

constexpr std::size_t COLUMNS = 1024;  // of a block that are read together
constexpr std::size_t AT_ONCE = 4;    // numbers

// Neighbouring numbers of a line, which a processor multiplies or adds up in one step or two.
using Some [[gnu::vector_size(AT_ONCE * sizeof(double))]] = double;

inline Some read_some(const double* numbers, std::size_t n = AT_ONCE) {
    Some read{};  // what is lacking is 0
    std::memcpy(&read, numbers, n * sizeof(double));
    return read;
}

inline double add_up(const Some& sums) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }

using Tile = std::vector<const double*>;  // where some columns of each line of a block begin

// Add the products of two lines i and i + 1, and so many others from line j on, over n columns.
//
// Lines are taken together since each number that is read then counts several times.
template <std::size_t n_others>
void add_products(Grid<double>& products, const Tile& line, std::size_t n, std::size_t i, std::size_t j) {
    Some with_first[n_others]{}, with_second[n_others]{};
    const double *first = line[i], *second = line[i + 1];
    std::array<const double*, n_others> other;
    std::copy_n(line.begin() + j, n_others, other.begin());
    std::size_t k = 0;
    const auto add = [&](std::size_t n_read) {
        const Some of_first = read_some(first + k, n_read), of_second = read_some(second + k, n_read);
        for (std::size_t m = 0; m < n_others; ++m) {
            const Some of_other = read_some(other[m] + k, n_read);
            with_first[m] += of_first * of_other;
            with_second[m] += of_second * of_other;
        }
    };
    for (; k + AT_ONCE <= n; k += AT_ONCE) add(AT_ONCE);
    if (k < n) add(n - k);
    for (std::size_t m = 0; m < n_others; ++m) {
        products(i, j + m) += add_up(with_first[m]);
        products(i + 1, j + m) += add_up(with_second[m]);
    }
}

// Sum the products of each pair of lines and those before; `line` has room for the lines.
inline void sum_pairs(Grid<double>& of_pairs, Tile& line, Matrix<const double> block) {
    for (std::size_t start = 0; start < block.n_columns; start += COLUMNS) {
        const std::size_t n = std::min(COLUMNS, block.n_columns - start);
        for (std::size_t i = 0; i < line.size(); ++i) line[i] = &block(std::min(i, block.n_rows - 1), start);
        for (std::size_t i = 0; i < line.size(); i += 2) {
            std::size_t j = 0;
            for (; j + 2 <= i; j += 4) add_products<4>(of_pairs, line, n, i, j);
            if (j <= i) add_products<2>(of_pairs, line, n, i, j);
        }
    }
}

// Sum the products of each two lines of a block; above the diagonal stays 0. Every fourth column is summed by itself.
//
// An odd last line makes a pair with itself; what that repeats is left out. `sum` is sum_pairs, however it is compiled.
inline Grid<double> sum_few_products(
    Matrix<const double> block, void (*sum)(Grid<double>& of_pairs, Tile& line, Matrix<const double> block)) {
    const std::size_t n_lines = block.n_rows, n_even = n_lines + n_lines % 2;
    Grid<double> of_pairs(n_even, n_even), products(n_lines, n_lines);
    Tile line(n_even);
    sum(of_pairs, line, block);
    for (std::size_t i = 0; i < n_lines; ++i) std::ranges::copy(of_pairs.row(i).first(i + 1), products.row(i).begin());
    return products;
}

// Add Laplace noise to each of some values, with a sensitivity and an epsilon of its own.
inline std::vector<double> add_noise(std::span<const double> values, std::span<const double> sensitivity,
                                     std::span<const double> epsilon, const Generator& rng) {
    check_size("sensitivities", sensitivity.size(), values.size());
    check_size("epsilons", epsilon.size(), values.size());
    note_steps(16 * values.size());
    std::vector<double> noisy(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) noisy[i] = laplace(values[i], sensitivity[i], epsilon[i], rng);
    return noisy;
}

}  // namespace dp_replica::regression
