"""The memory screen: what was learned, with its proof; the review, the core blocks, the ratings, the documents."""
