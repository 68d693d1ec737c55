"""What the MovieLens data sets have in common."""

CITATION = (
    "Harper and Konstan, The MovieLens Datasets: History and Context, "
    "ACM Transactions on Interactive Intelligent Systems 5(4), 2015"
)
TYPES = {"userId": "int64", "movieId": "int64", "rating": "float64", "timestamp": "int64"}
ZIP = b"PK\x03\x04"
