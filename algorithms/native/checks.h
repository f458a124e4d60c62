// What kernels ask of what they are given, once for each call: a number out of its range would be read, or written,
// somewhere else. Python raises a ValueError that says what is wrong, and where.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "native/arrays.h"

namespace dp_replica {

constexpr int MAX_DEPTH = 30;  // of a tree, see forests/forest.py
constexpr std::size_t MOST_NODES = std::numeric_limits<std::int32_t>::max();  // of a tree, which numbers them so
constexpr std::size_t MOST_CLASSES = std::size_t{1} << 16;  // labels have 16 bits
constexpr std::size_t MOST_GROUPED = 63;  // categories of a column that a sum of 2^j holds

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const std::string& what) { throw std::invalid_argument(what); }

inline void check(bool holds, const char* what) {
    if (!holds) refuse(what);
}

inline void check_size(const char* name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        refuse(std::string(name) + ": there are " + std::to_string(found) + ", not " + std::to_string(wanted));
}

inline void check_least(const char* name, std::size_t found, std::size_t least) {
    if (found < least)
        refuse(std::string(name) + ": there are " + std::to_string(found) + ", not " + std::to_string(least) + " or more");
}

// Refuse a number that is not one of 0, ..., n - 1.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_number(
    const char* name, std::size_t place, std::int64_t number, std::size_t n) {
    refuse(std::string(name) + " " + std::to_string(place) + " is " + std::to_string(number) + ", not one of the " +
           std::to_string(n) + " whole numbers from 0 on");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_category(double value, std::size_t n) {
    refuse("a value of " + std::to_string(value) + " is none of the " + std::to_string(n) +
           " categories, or bins, of its column");
}

// Tell whether a whole number is one of 0, ..., n - 1.
inline bool is_below(std::int64_t number, std::size_t n) { return static_cast<std::uint64_t>(number) < n; }

// Check that all of some whole numbers are among 0, ..., n - 1.
template <class Number>
void check_below(const char* name, std::span<const Number> numbers, std::size_t n) {
    using Positive = std::make_unsigned_t<Number>;
    Positive largest = 0;  // a negative number is larger than any other
    for (auto number : numbers) largest = std::max(largest, static_cast<Positive>(number));
    if (numbers.empty() || largest < n) return;
    const auto wrong = std::ranges::find_if(numbers, [=](auto number) { return static_cast<Positive>(number) >= n; });
    refuse_number(name, wrong - numbers.begin(), *wrong, n);
}

// Return the category, or the bin, that a value stands for: one of n.
//
// Of a NaN, or of a number too large for any integer, a processor makes some integer: it is checked like any other.
// To compare the value itself, twice, made predictions by category a tenth slower.
[[gnu::no_sanitize("float-cast-overflow")]] inline std::uint32_t category_of(double value, std::size_t n) {
    const auto category = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));  // a negative one is large
    if (category >= n) refuse_category(value, n);
    return static_cast<std::uint32_t>(category);
}

}  // namespace dp_replica
