// The randomised mechanisms: every draw of noise of a kernel happens here. mechanisms.py says what each promises.
#pragma once

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "native/arrays.h"
#include "native/random.h"

namespace dp_replica {

// Draws in place of the mechanisms: OpenDP, by way of Python.
struct StandIn {
    virtual ~StandIn() = default;
    virtual double laplace(double value, double sensitivity, double epsilon) = 0;
    virtual std::vector<double> laplace_vector(
        std::span<const double> values, double sensitivity, double epsilon) = 0;
    virtual std::vector<double> sup_norm_vector(
        std::span<const double> values, double sensitivity, double epsilon) = 0;
    virtual std::size_t exponential(std::span<const double> quality, std::span<const double> measure,
                                    double sensitivity, double epsilon, bool monotone) = 0;
    virtual std::size_t permute_and_flip(
        std::span<const double> quality, double sensitivity, double epsilon, bool monotone) = 0;
};

inline void check_positive(const char* mechanism, double sensitivity, double epsilon) {
    if (!(sensitivity > 0 && epsilon > 0))
        throw std::invalid_argument(std::string(mechanism) + ": sensitivity and epsilon must be positive");
}

// Add Laplace noise of scale sensitivity / epsilon to a number (Dwork et al., 2006).
inline double laplace(double value, double sensitivity, double epsilon, const Generator& rng) {
    if (rng.secure) return rng.secure->laplace(value, sensitivity, epsilon);
    check_positive("laplace", sensitivity, epsilon);
    return epsilon == INF ? value : value + rng.laplace(sensitivity / epsilon);
}

// Add independent Laplace noise to each entry of a vector, whose change is measured in the L1 norm.
inline std::vector<double> laplace_vector(
    std::span<const double> values, double sensitivity, double epsilon, const Generator& rng) {
    if (rng.secure) return rng.secure->laplace_vector(values, sensitivity, epsilon);
    check_positive("laplace", sensitivity, epsilon);
    std::vector<double> noisy(values.begin(), values.end());
    if (epsilon != INF)
        for (double& value : noisy) value += rng.laplace(sensitivity / epsilon);
    return noisy;
}

// Return 64 bits that look random but are a function of a 64-bit key (the finaliser of SplitMix64).
inline std::uint64_t mix_bits(std::uint64_t key) {
    key += 0x9E3779B97F4A7C15;
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB;
    return key ^ (key >> 31);
}

// Return a number in (0, 1) that is a function of a 64-bit key, evenly spread over the keys.
inline double uniform_of(std::uint64_t key) { return (static_cast<double>(mix_bits(key) >> 12) + 0.5) * 0x1p-52; }

// Add Laplace noise that is a function of a key: for answers that are given only when somebody asks.
inline double laplace_of(std::uint64_t key, double value, double sensitivity, double epsilon) {
    check_positive("laplace_of", sensitivity, epsilon);
    if (epsilon == INF) return value;
    const double u = uniform_of(key);
    const double noise = u < 0.5 ? std::log(2.0 * u) : -std::log(2.0 * (1.0 - u));
    return value + noise * (sensitivity / epsilon);
}

// Draw a candidate with probability proportional to measure * exp(epsilon * quality / (2 * sensitivity)).
inline std::size_t exponential(std::span<const double> quality, std::span<const double> measure, double sensitivity,
                               double epsilon, const Generator& rng, bool monotone = false) {
    if (rng.secure) return rng.secure->exponential(quality, measure, sensitivity, epsilon, monotone);
    check_positive("exponential", sensitivity, epsilon);
    if (monotone) sensitivity = 0.5 * sensitivity;
    double best = -INF;
    for (std::size_t i = 0; i < quality.size(); ++i)
        if (measure[i] > 0 && quality[i] > best) best = quality[i];
    std::vector<double> weight(quality.size());
    double total = 0.0;
    for (std::size_t i = 0; i < quality.size(); ++i) {
        // Scores relative to the best one are at most 0: exp may underflow to 0 but never overflows.
        if (quality[i] == best)
            weight[i] = measure[i];
        else if (epsilon != INF && measure[i] > 0)
            weight[i] = measure[i] * std::exp((quality[i] - best) * (epsilon / (2.0 * sensitivity)));
        else
            continue;
        total += weight[i];
    }
    if (!(total > 0)) throw std::invalid_argument("exponential: no candidate with a positive measure");
    const double threshold = rng.random() * total;
    std::size_t chosen = 0;  // the last possible candidate stands in if rounding leaves the threshold unreached
    double reached = 0.0;
    for (std::size_t i = 0; i < quality.size() && reached <= threshold; ++i) {
        if (weight[i] > 0) {
            chosen = i;
            reached += weight[i];
        }
    }
    return chosen;
}

// Draw a candidate by permute-and-flip, in its form argmax(quality + Exponential(2 * sensitivity / epsilon)).
inline std::size_t permute_and_flip(
    std::span<const double> quality, double sensitivity, double epsilon, const Generator& rng, bool monotone = false) {
    if (rng.secure) return rng.secure->permute_and_flip(quality, sensitivity, epsilon, monotone);
    check_positive("permute_and_flip", sensitivity, epsilon);
    if (quality.empty()) throw std::invalid_argument("permute_and_flip: no candidate");
    if (monotone) sensitivity = 0.5 * sensitivity;
    const double scale = 2.0 * sensitivity / epsilon;
    std::size_t chosen = 0;
    double best = -INF, best_noise = -1.0;
    for (std::size_t i = 0; i < quality.size(); ++i) {
        const double noise = rng.standard_exponential(), score = quality[i] + scale * noise;
        if (score > best || (score == best && noise > best_noise)) chosen = i, best = score, best_noise = noise;
    }
    return chosen;
}

// Add noise to a vector whose entries may all change together: the K-norm mechanism of the maximum norm.
inline std::vector<double> sup_norm_vector(
    std::span<const double> values, double sensitivity, double epsilon, const Generator& rng) {
    if (rng.secure) return rng.secure->sup_norm_vector(values, sensitivity, epsilon);
    check_positive("sup_norm_vector", sensitivity, epsilon);
    std::vector<double> noisy(values.begin(), values.end());
    if (epsilon == INF) return noisy;
    const double radius = rng.standard_gamma(values.size() + 1.0) * (sensitivity / epsilon);
    for (double& value : noisy) value += radius * (2.0 * rng.random() - 1.0);
    return noisy;
}

}  // namespace dp_replica
