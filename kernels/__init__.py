"""Kernels of the training path on a card, in Triton: docs/gpu.md, "Kernels of the training path"."""
