//! What is wrong with a handler that loads and would run, one file per rule.
