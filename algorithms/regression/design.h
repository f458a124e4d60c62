// From rows to regressors: public scaling of the attributes, a block of rows at a time.
#pragma once

#include <algorithm>

#include "encoding/clipping.h"

namespace dp_replica {

// Rows of a table that are read together: these few stay in the nearest cache until all is done with them.
constexpr std::size_t TILE = 32;

// How values are scaled: those between the bounds to [0, 1], and that to [-less, times - less].
struct Scaling {
    double times, less;
};

// Lower bound, upper bound and width of each attribute.
struct Bounds {
    std::span<const double> lower, upper, width;
};

// A quotient, unlike a product with 1 / width, never rounds to more than 1.
inline double scale_number(double value, double lower, double width, Scaling scaling) {
    return scaling.times * ((value - lower) / width) - scaling.less;
}

// Map values between the bounds to [-less, times - less], in place.
inline void scale_line(std::span<double> line, double lower, double width, Scaling scaling) {
    for (double& value : line) value = scale_number(value, lower, width, scaling);
}

// Clip and scale the rows start, ..., start + m - 1 of a table into lines; returns how many values are missing.
inline std::int64_t read_tile(Matrix<const double> values, std::size_t start, std::size_t m, Matrix<double> out,
                              const Bounds& bounds, Scaling scaling, std::span<std::int64_t> n_clipped) {
    std::int64_t n_missing = 0;
    for (std::size_t j = 0; j < values.n_columns; ++j) {
        double* line = &out(j, start);
        for (std::size_t i = 0; i < m; ++i) line[i] = values(start + i, j);
    }
    for (std::size_t j = 0; j < values.n_columns; ++j) {
        double* line = &out(j, start);
        const double low = bounds.lower[j], high = bounds.upper[j], wide = bounds.width[j];
        std::int64_t n_changed = 0, n_nan = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const double value = line[i], clipped = clip_number(value, low, high);
            n_changed += clipped != value;
            n_nan += value != value;
            line[i] = scale_number(clipped, low, wide, scaling);
        }
        n_clipped[j] += n_changed - n_nan;
        n_missing += n_nan;
    }
    return n_missing;
}

// Clip and scale the columns of a table into lines, see `read_table` of Rows.encode; returns how many are missing.
//
// The rows of a tile come from memory once for all columns, and stay near until all is done with them.
inline std::int64_t read_table(Matrix<double> out, const Bounds& bounds, Scaling scaling, Matrix<const double> values,
                               std::span<std::int64_t> n_clipped) {
    std::int64_t n_missing = 0;
    std::size_t start = 0;
    for (; start + TILE <= values.n_rows; start += TILE)  // a number known to the compiler: loops are written out
        n_missing += read_tile(values, start, TILE, out, bounds, scaling, n_clipped);
    return n_missing + read_tile(values, start, values.n_rows - start, out, bounds, scaling, n_clipped);
}

}  // namespace dp_replica
