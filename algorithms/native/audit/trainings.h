// One stream of random numbers for each of many trainings. See experiments/audit/observe/trainings.py.
#pragma once

#include <span>

#include "mechanisms.h"
#include "native/checks.h"
#include "native/stopping.h"

namespace dp_replica::audit {

// A numpy generator, and where the state of its PCG64 and the unused half of a number lie in memory.
struct RandomStream {
    Generator rng;
    std::span<std::uint64_t> state, rest;
    std::uint64_t key;  // of the run
};

// Set a generator to the beginning of a training.
inline void begin_training(const RandomStream& stream, std::uint64_t training) {
    const auto number = stream.key ^ mix_bits(training);
    stream.state[0] = mix_bits(number), stream.state[1] = mix_bits(~number);
    stream.rest[0] = 0;
}

}  // namespace dp_replica::audit
