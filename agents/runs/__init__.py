"""Training runs: how they are kept, resumed, measured and reported."""
