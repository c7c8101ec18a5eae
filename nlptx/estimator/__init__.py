"""The classifier as a scikit-learn estimator: the way into nlptx from Python, as ``cli`` is from the shell."""
