// Views of arrays that numpy holds, and small tables of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace dp_replica {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

// A table that somebody else holds, row after row.
template <class T>
struct Matrix {
    T* first;
    std::size_t n_rows, n_columns;

    T& operator()(std::size_t i, std::size_t j) const { return first[i * n_columns + j]; }
    std::span<T> row(std::size_t i) const { return {first + i * n_columns, n_columns}; }
};

// A column of a table that somebody else holds: its numbers may lie apart.
template <class T>
struct Column {
    T* first;
    std::size_t size;
    std::ptrdiff_t step;

    T& operator[](std::size_t i) const { return first[static_cast<std::ptrdiff_t>(i) * step]; }
};

// A table of zeros to begin with, row after row.
template <class T>
class Grid {
public:
    Grid(std::size_t n_rows, std::size_t n_columns) : n_columns_(n_columns), values_(n_rows * n_columns) {}

    T& operator()(std::size_t i, std::size_t j) { return values_[i * n_columns_ + j]; }
    const T& operator()(std::size_t i, std::size_t j) const { return values_[i * n_columns_ + j]; }
    std::span<T> row(std::size_t i) { return {values_.data() + i * n_columns_, n_columns_}; }
    std::span<const T> row(std::size_t i) const { return {values_.data() + i * n_columns_, n_columns_}; }
    std::size_t n_rows() const { return values_.size() / n_columns_; }
    std::size_t n_columns() const { return n_columns_; }
    void keep_rows(std::size_t n_rows) { values_.resize(n_rows * n_columns_); }
    std::vector<T>& values() { return values_; }
    const std::vector<T>& values() const { return values_; }

private:
    std::size_t n_columns_;
    std::vector<T> values_;
};

}  // namespace dp_replica
