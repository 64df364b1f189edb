"""The numpy implementation of the rules. Its public interface is :mod:`genial_env.core.kernel`."""
