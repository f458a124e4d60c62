"""Attacks that bound ε from below: many trainings on neighbouring tables, real releases, one training with canaries."""
