"""A callback that counts the decisions of a training run of Stable-Baselines3 for its progress lines."""

from stable_baselines3.common.callbacks import BaseCallback

from agents.runs.progress import Progress

__all__ = ["ProgressCallback"]


class ProgressCallback(BaseCallback):
    """Tells a :class:`~agents.runs.progress.Progress` how many decisions the learner has made.

    Args:
        progress: the progress of the run.
    """

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def _on_step(self) -> bool:
        self._progress.done = self.num_timesteps
        return True
