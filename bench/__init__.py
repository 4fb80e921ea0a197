"""Benchmarks: each prints one flat object of figures with --json."""
