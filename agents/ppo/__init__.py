"""Training of masked PPO with Stable-Baselines3."""
