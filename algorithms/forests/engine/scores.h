// Split scores: how well a split separates the classes. Larger is better; all are weighted by counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace dp_replica {

enum class Score { gini, information_gain, max_operator };

// Return what one class adds to the score of a child with n records, `count` of them of that class.
inline double class_term(Score score, double count, double n) {
    if (score == Score::gini) return count == 0 ? 0.0 : count * (count / n - 1.0);
    if (count == 0) return 0.0;
    return score == Score::information_gain ? count * std::log2(count / n) : count;
}

// Join the terms of two classes: the larger one for the max operator, else their sum.
inline double join_terms(Score score, double some, double more) {
    return score == Score::max_operator ? std::max(some, more) : some + more;
}

// Return the share of one child in a score, from its class counts.
inline double side_score(Score score, const auto& counts) {
    double n = 0.0, total = 0.0;
    for (auto count : counts) n += count;
    for (auto count : counts) total = join_terms(score, total, class_term(score, static_cast<double>(count), n));
    return total;
}

// Score a split of a regression: minus the sum of squared errors around the means of the two sides.
//
// Of the node and of its left side it takes the number of records and their summed target.
inline double squared_error_score(double n, double total, double n_left, double left, double squares) {
    const double n_right = n - n_left, right = total - left;
    double explained = 0.0;
    if (n_left > 0) explained += left * left / n_left;
    if (n_right > 0) explained += right * right / n_right;
    return explained - squares;
}

// Return the most by which one record more changes the mean Gini impurity of the children of a node of so many rows.
inline double mean_gini_sensitivity(double n_rows) { return 2.0 * n_rows / ((n_rows + 1.0) * (n_rows + 1.0)); }

}  // namespace dp_replica
