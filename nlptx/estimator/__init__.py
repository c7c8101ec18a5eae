"""The classifier as a scikit-learn estimator, which is the main interface of nlptx for Python programs."""
