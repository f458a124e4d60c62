"""What leaves of a fitted model: release objects, which are read and used without the code that trains.

Nothing in here imports a training algorithm or scikit-learn.
"""
