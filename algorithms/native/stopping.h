// Kernels end early where somebody wants to: by Ctrl-C, or since another thread of the same work has failed.
#pragma once

#include <cstddef>

namespace dp_replica {

constexpr std::ptrdiff_t STEPS = std::ptrdiff_t{1} << 18;  // between two looks at the clock: less than 10 ms

// Look at the clock and, four times a second, ask Python whether to go on; what it raises ends the kernel.
[[gnu::cold]] void look_up();

inline constinit thread_local std::ptrdiff_t steps_left = STEPS;

// Note that about so many numbers have been read; called between passes, never for each number.
inline void note_steps(std::size_t n) {
    steps_left -= static_cast<std::ptrdiff_t>(n) + 1;
    if (steps_left < 0) {
        steps_left = STEPS;
        look_up();
    }
}

}  // namespace dp_replica
