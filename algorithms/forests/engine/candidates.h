// What a node may be split by: class counts behind every value, scores of every cut, random features.
#pragma once

#include <numeric>
#include <utility>

#include "forests/engine/scores.h"
#include "forests/engine/tree.h"
#include "native/random.h"

namespace dp_replica {

using Counts = Grid<double>;  // records by code and class
using Features = std::vector<std::int64_t>;

// Count the records of each class in node i.
inline std::vector<double> class_counts(const Growth& tree, std::size_t i) {
    std::vector<double> counts(tree.n_classes());
    for (std::size_t c = 0; c < counts.size(); ++c) counts[c] = static_cast<double>(tree.rows_of_class(i, c).size());
    return counts;
}

inline double sum_counts(const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0.0);
}

// Sum records by code and class over the codes.
template <class Count>
std::vector<double> sum_by_class(const Grid<Count>& counts) {
    std::vector<double> totals(counts.n_columns());
    for (std::size_t j = 0; j < counts.n_rows(); ++j)
        for (std::size_t c = 0; c < totals.size(); ++c) totals[c] += counts(j, c);
    return totals;
}

// Tell whether at most one class is present. This is an exact look at the rows: using it costs privacy.
inline bool is_pure(std::span<const double> counts) {
    return std::ranges::count_if(counts, [](double count) { return count > 0; }) <= 1;
}

// Return 0, ..., n - 1.
inline Features first_numbers(std::size_t n) {
    Features numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

// Draw m of the available features without replacement, all of them if there are fewer.
inline Features draw_features(Features pool, std::size_t m, const Generator& rng) {
    m = std::min(m, pool.size());
    for (std::size_t drawn = 0; drawn < m; ++drawn)
        std::swap(pool[drawn], pool[drawn + rng.draw_below(pool.size() - drawn)]);
    pool.resize(m);
    return pool;
}

// Count the records of node i by code of a feature and class.
//
// The quarters of a long run are counted side by side: of a frequent code, each addition would wait for the last.
template <class Code>
Grid<std::int64_t> count_by_code(const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature) {
    const Code* column = table.codes.row(feature).data();
    const std::size_t n_codes = table.n_codes[feature], n_classes = tree.n_classes();
    note_steps(tree.rows_of(i).size() + n_codes * n_classes);
    Grid<std::int64_t> counts(n_codes, n_classes);
    std::vector<std::int64_t> others(4 * n_codes < tree.rows_of(i).size() ? 3 * n_codes : 0);
    for (std::size_t c = 0; c < n_classes; ++c) {
        const auto rows = tree.rows_of_class(i, c);
        std::int64_t* of_class = counts.values().data() + c;
        const std::size_t quarter = 4 * n_codes < rows.size() ? rows.size() / 4 : 0;
        for (std::size_t j = 0; j < quarter; ++j) {
            ++of_class[column[rows[j]] * n_classes];
            ++others[column[rows[j + quarter]]];
            ++others[column[rows[j + 2 * quarter]] + n_codes];
            ++others[column[rows[j + 3 * quarter]] + 2 * n_codes];
        }
        for (auto row : rows.subspan(4 * quarter)) ++of_class[column[row] * n_classes];  // what is left, or all
        for (std::size_t code = 0; quarter > 0 && code < n_codes; ++code)
            for (std::size_t k = code; k < others.size(); k += n_codes)
                of_class[code * n_classes] += std::exchange(others[k], 0);
    }
    return counts;
}

// Return whole numbers as floating-point numbers, as noisy counts are.
inline Counts as_counts(const Grid<std::int64_t>& exact) {
    Counts counts(exact.n_rows(), exact.n_columns());
    std::ranges::copy(exact.values(), counts.values().begin());
    return counts;
}

// Return a test of codes for a range, ends included: below it the difference wraps around, one comparison does.
inline auto is_within(std::int64_t lowest, std::int64_t highest) {
    const auto low = static_cast<std::uint64_t>(lowest);
    const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(highest - lowest + 1, 0));
    return [=](std::uint64_t code) { return code - low < span; };
}

// Count the records of node i whose code of a feature lies in a range, by class.
template <class Code>
void count_within(const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature,
                  std::int64_t lowest, std::int64_t highest, std::span<double> counts) {
    const Code* column = table.codes.row(feature).data();
    const auto is_counted = is_within(lowest, highest);
    note_steps(tree.rows_of(i).size());
    for (std::size_t c = 0; c < counts.size(); ++c) {
        std::int64_t n = 0;
        for (auto row : tree.rows_of_class(i, c)) n += is_counted(column[row]);
        counts[c] = static_cast<double>(n);
    }
}

// Return number and summed target of the records of node i whose code of a feature lies in a range.
template <class Code>
std::pair<double, double> sum_within(const Growth& tree, const Table<Code>& table, std::size_t i,
                                     std::int64_t feature, std::int64_t lowest, std::int64_t highest) {
    const Code* column = table.codes.row(feature).data();
    const auto is_counted = is_within(lowest, highest);
    note_steps(tree.rows_of(i).size());
    std::int64_t n = 0;
    double total = 0.0;
    for (auto row : tree.rows_of(i)) {
        const bool counts = is_counted(column[row]);
        n += counts;
        total += counts * table.targets[row];
    }
    return {static_cast<double>(n), total};
}

// Return the sum of the targets in node i and that of their squares.
inline std::pair<double, double> sum_targets(const Growth& tree, std::span<const double> targets, std::size_t i) {
    double total = 0.0, squares = 0.0;
    note_steps(tree.rows_of(i).size());
    for (auto row : tree.rows_of(i)) {
        total += targets[row];
        squares += targets[row] * targets[row];
    }
    return {total, squares};
}

// Set the flags of the codes of some rows, and count these: among n_codes flags or, of none, row by row.
template <class Code>
std::int64_t mark_codes(const Code* column, std::span<const std::uint32_t> rows, bool* seen, std::size_t n_codes) {
    std::int64_t n_seen = 0;
    if (n_codes == 0) {
        for (auto row : rows) n_seen += !std::exchange(seen[column[row]], true);
        return n_seen;
    }
    const std::size_t step = std::max<std::size_t>(4 * n_codes, 512);  // mostly, a few rows have all codes of a few
    for (std::size_t start = 0; n_seen < std::int64_t(n_codes) && start < rows.size(); start += step) {
        // Without a look at the flag, for which the next rows would wait.
        for (auto row : rows.subspan(start, std::min(step, rows.size() - start))) seen[column[row]] = true;
        n_seen = std::count(seen, seen + n_codes, true);
    }
    return n_seen;
}

// Draw one of the codes of a feature that occur in node i, each with the same chance, whatever its records.
//
// A uniform number says how many codes are passed by, in the order in which the rows of the node first show them.
// `seen` is room for one flag per code, all false before and after.
template <class Code>
std::int64_t draw_present_code(const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature,
                               bool* seen, const Generator& rng) {
    const Code* column = table.codes.row(feature).data();
    const auto rows = tree.rows_of(i);
    note_steps(2 * rows.size());
    const std::size_t n_codes = table.n_codes[feature];
    const bool has_few = n_codes <= 4 * rows.size();  // else a pass over all flags takes longer than one over the rows
    auto n_ahead = rng.draw_below(mark_codes(column, rows, seen, has_few ? n_codes : 0));
    Code code = 0;
    for (auto row : rows) {
        code = column[row];
        n_ahead -= std::exchange(seen[code], false);
        if (n_ahead < 0) break;
    }
    if (has_few)
        std::fill_n(seen, n_codes, false);
    else
        for (auto row : rows) seen[column[row]] = false;
    return code;
}

// Sort the rows of node i by their code: code << 32 | class.
template <class Code>
std::vector<std::int64_t> sorted_by_code(
    const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature) {
    const Code* column = table.codes.row(feature).data();
    std::vector<std::int64_t> keys(tree.rows_of(i).size());
    note_steps(8 * keys.size());
    auto key = keys.begin();
    for (std::size_t c = 0; c < tree.n_classes(); ++c)
        for (auto row : tree.rows_of_class(i, c)) *key++ = std::int64_t{column[row]} << 32 | std::int64_t(c);
    if (keys.size() < 64) {
        std::ranges::sort(keys);
        return keys;
    }
    // Radix sort, a byte of the code at a time: two to eight times as fast as comparing.
    std::vector<std::int64_t> other(keys.size());
    for (int shift = 32; (table.n_codes[feature] - 1) >> (shift - 32) > 0; shift += 8) {
        std::int64_t ends[257] = {};
        for (auto key : keys) ++ends[(key >> shift & 0xFF) + 1];
        for (int digit = 0; digit < 256; ++digit) ends[digit + 1] += ends[digit];
        for (auto key : keys) other[ends[key >> shift & 0xFF]++] = key;
        keys.swap(other);
    }
    return keys;
}

struct PresentCodes {
    std::vector<std::int64_t> codes;  // ascending
    Grid<std::int64_t> counts;        // their records by class
};

// Count as count_by_code, but only codes that occur in the node.
template <class Code>
PresentCodes count_by_present_code(
    const Growth& tree, const Table<Code>& table, std::size_t i, std::int64_t feature) {
    const std::size_t n_rows = tree.rows_of(i).size(), n_codes = table.n_codes[feature], n_classes = tree.n_classes();
    std::size_t n_present = 0;
    if (n_codes <= 4 * n_rows) {
        PresentCodes present{std::vector<std::int64_t>(n_codes), count_by_code(tree, table, i, feature)};
        std::int64_t *codes = present.codes.data(), *counts = present.counts.values().data();
        for (std::size_t code = 0; code < n_codes; ++code) {
            std::int64_t n = 0;
            for (std::size_t c = 0; c < n_classes; ++c) {
                const auto count = counts[code * n_classes + c];
                n += count;
                counts[n_present * n_classes + c] = count;
            }
            codes[n_present] = code;
            n_present += n > 0;
        }
        present.codes.resize(n_present);
        present.counts.keep_rows(n_present);
        return present;
    }
    // A column of many values in a small node: sorting its rows is cheaper than a pass over all its codes.
    PresentCodes present{std::vector<std::int64_t>(n_rows), Grid<std::int64_t>(n_rows, n_classes)};
    std::int64_t *codes = present.codes.data(), *counts = present.counts.values().data(), last = -1;
    for (auto key : sorted_by_code(tree, table, i, feature)) {
        n_present += key >> 32 != std::exchange(last, key >> 32);
        codes[n_present - 1] = last;
        ++counts[(n_present - 1) * n_classes + (key & 0xFFFFFFFF)];
    }
    present.codes.resize(n_present);
    present.counts.keep_rows(n_present);
    return present;
}

// Add the terms of one class to the scores of many sides with n records, `counts` of them of that class.
inline void add_class_terms(
    Score score, std::span<double> sums, std::span<const double> counts, std::span<const double> n) {
    if (score == Score::gini)  // loops of their own, without a choice: processors divide several numbers at once
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += class_term(Score::gini, counts[j], n[j]);
    else if (score == Score::information_gain)
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += class_term(Score::information_gain, counts[j], n[j]);
    else
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = std::max(sums[j], counts[j]);
}

// Score every split "code <= cut" between two neighbouring rows of a count table.
template <class Count>  // int64_t, or double where the counts have noise
std::vector<double> below_scores(Score score, const Grid<Count>& counts, std::span<const double> totals) {
    const std::size_t n_splits = std::max<std::size_t>(counts.n_rows(), 1) - 1;
    std::vector<double> left(n_splits), right(n_splits);
    const auto room = std::make_unique_for_overwrite<double[]>(4 * n_splits);
    auto next_row = [n_splits, first = room.get()]() mutable {
        return std::span(std::exchange(first, first + n_splits), n_splits);
    };
    const auto n_left = next_row(), n_right = next_row(), below = next_row(), above = next_row();
    const double n_all = sum_counts(totals);
    Count n = 0;
    for (std::size_t j = 0; j < n_splits; ++j) {
        for (auto count : counts.row(j)) n += count;
        n_left[j] = static_cast<double>(n), n_right[j] = n_all - n_left[j];
    }
    for (std::size_t c = 0; c < totals.size(); ++c) {  // class by class: short inner loops are several times slower
        const double total = totals[c];
        Count n_below = 0;
        for (std::size_t j = 0; j < n_splits; ++j) {
            n_below += counts(j, c);
            below[j] = static_cast<double>(n_below), above[j] = total - below[j];
        }
        add_class_terms(score, left, below, n_left);
        add_class_terms(score, right, above, n_right);
    }
    for (std::size_t j = 0; j < n_splits; ++j) left[j] += right[j];
    return left;
}

// Score one split in two from the class counts of its left side and of the node.
inline double split_score(Score score, std::span<const double> left, std::span<const double> totals) {
    const double n_left = sum_counts(left), n_all = sum_counts(totals);
    double on_left = 0.0, on_right = 0.0;
    for (std::size_t c = 0; c < totals.size(); ++c) {
        on_left = join_terms(score, on_left, class_term(score, left[c], n_left));
        on_right = join_terms(score, on_right, class_term(score, totals[c] - left[c], n_all - n_left));
    }
    return on_left + on_right;
}

// Score every split "code == value against the rest".
inline std::vector<double> equals_scores(Score score, const Counts& counts, std::span<const double> totals) {
    std::vector<double> scores(counts.n_rows());
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = split_score(score, counts.row(j), totals);
    return scores;
}

// Number the public splits of some features: a nominal one by its values, a continuous one at each of its cuts.
//
// Splits ends[j], ..., ends[j + 1] - 1 are those of feature j.
template <class Code>
std::vector<std::int64_t> public_splits(const Table<Code>& table, std::span<const std::int64_t> features) {
    std::vector<std::int64_t> ends(1);
    for (auto feature : features)
        ends.push_back(ends.back() + (table.is_continuous[feature] ? table.n_codes[feature] - 1 : 1));
    return ends;
}

// Count the numbers up to a value.
inline std::int64_t count_up_to(std::span<const std::int64_t> ascending, std::int64_t value) {
    return std::ranges::upper_bound(ascending, value) - ascending.begin();
}

// Return the feature of a split and, if it is continuous, the largest code on the left.
inline std::pair<std::int64_t, std::int64_t> public_split(
    std::span<const std::int64_t> features, std::span<const std::int64_t> ends, std::int64_t number) {
    const auto j = count_up_to(ends, number) - 1;
    return {features[j], number - ends[j]};
}

// Score the split that makes one child of every code.
template <class Count>
double by_value_score(Score score, const Grid<Count>& counts) {
    double total = 0.0;
    for (std::size_t j = 0; j < counts.n_rows(); ++j) total += side_score(score, counts.row(j));
    return total;
}

// Return the code with the smallest share of class c that is not among `codes`; no rows are a share of 0.
inline std::int64_t next_code(const Counts& counts, std::size_t c, std::int64_t codes) {
    std::int64_t chosen = -1;
    double smallest = INF;
    for (std::size_t j = 0; j < counts.n_rows(); ++j) {
        if (is_among(j, codes)) continue;
        const double n = sum_counts(counts.row(j)), share = n > 0 ? counts(j, c) / n : 0.0;
        if (share < smallest) chosen = j, smallest = share;
    }
    return chosen;
}

// Find the best split of the codes of a feature in two groups; returns its score and the sum of 2^j over codes j left.
inline std::pair<double, std::int64_t> best_groups(Score score, const Counts& counts) {
    check(counts.n_rows() <= MOST_GROUPED, "a column of over 63 categories cannot be put into two groups");
    const auto totals = sum_by_class(counts);
    std::pair<double, std::int64_t> best{-INF, 0};
    for (std::size_t c = 1; c < counts.n_columns(); ++c) {
        std::vector<double> left(counts.n_columns());
        std::int64_t code = 0;
        for (std::size_t n = 1; n < counts.n_rows(); ++n) {
            const auto j = next_code(counts, c, code);
            code += std::int64_t{1} << j;
            for (std::size_t k = 0; k < left.size(); ++k) left[k] += counts(j, k);
            const double found = split_score(score, left, totals);
            if (found > best.first) best = {found, code};
        }
    }
    return best;
}

// Tell from its records by code and class whether a split puts the rows of a node into more than one child.
inline bool divides_rows(const Counts& counts, Decides decides, std::int64_t code) {
    double n_rows = 0.0, n_left = 0.0, n_most = 0.0;
    for (std::size_t j = 0; j < counts.n_rows(); ++j) {
        const double n = sum_counts(counts.row(j));
        n_rows += n;
        n_most = std::max(n_most, n);
        if (decides == EQUALS ? std::int64_t(j) == code : decides == AMONG && is_among(j, code)) n_left += n;
    }
    return decides == BY_VALUE ? n_most < n_rows : 0 < n_left && n_left < n_rows;
}

}  // namespace dp_replica
