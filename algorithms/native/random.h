// NumPy's generators: their bits come from Python's object, their distributions from NumPy's own library.
#pragma once

#include <cstdint>

#include <numpy/random/bitgen.h>

extern "C" {  // of numpy/random/distributions.h, which includes all of Python and NumPy
double random_laplace(bitgen_t* bits, double centre, double scale);
double random_standard_exponential(bitgen_t* bits);
double random_standard_gamma(bitgen_t* bits, double shape);
std::uint64_t random_bounded_uint64(
    bitgen_t* bits, std::uint64_t lowest, std::uint64_t range, std::uint64_t mask, bool use_masked);
}

namespace dp_replica {

struct StandIn;  // draws what mechanisms draw, see mechanisms.h

struct Generator {
    bitgen_t* bits;
    StandIn* secure = nullptr;  // draws all noise where the generator is a SecureGenerator

    double random() const { return bits->next_double(bits->state); }
    double laplace(double scale) const { return random_laplace(bits, 0.0, scale); }
    double standard_exponential() const { return random_standard_exponential(bits); }
    double standard_gamma(double shape) const { return random_standard_gamma(bits, shape); }
    // Draw from the whole numbers low, ..., high - 1.
    std::uint64_t integers(std::uint64_t low, std::uint64_t high) const {
        return random_bounded_uint64(bits, low, high - 1 - low, 0, false);
    }
    // Draw from the whole numbers 0, ..., n - 1 with a uniform number.
    std::int64_t draw_below(std::int64_t n) const { return static_cast<std::int64_t>(random() * n); }
};

}  // namespace dp_replica
