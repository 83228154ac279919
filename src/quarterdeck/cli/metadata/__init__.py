"""`quarterdeck metadata`: the words that a model reads, and the file that changes them."""
