"""The forest engine: how trees are stored, split, grown and asked, whatever rule a paper grows them by."""
