"""Counts words in a text."""


def words(text):
    return len(text.split())
