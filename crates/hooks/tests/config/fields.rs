//! Configurations of the shapes people really have, and what is true of each.
