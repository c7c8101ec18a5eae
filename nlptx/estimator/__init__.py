"""The classifier as a scikit-learn estimator: the main interface of nlptx for Python, as ``cli`` is for the shell."""
