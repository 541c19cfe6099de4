//! The contract: every row of it is protected by a named test, or a sentence says why not.
//!
//! ```text
//! fixtures/contract/rows.md    -> Row { id, text }   -\
//! fixtures/contract/<PART>.toml -> Line { tests, why } -> Check: counts, unmapped rows, mistakes
//! the test files they name      -> names of tests     -/
//! ```
//!
//! A *row* is a behaviour under an id such as `H14`. The file of its part maps the id to the tests
//! that fail when the behaviour breaks, to a sentence, or to both where a row holds in part.
//! Everything is read from the repository; nothing is compiled or run.

mod check;
pub mod cli;
mod mapping;
mod page;
mod report;
mod rows;
mod tests_of;

pub use check::{Check, Count, Mapped, check};
pub use mapping::{Line, Mapping};
pub use page::{page, regenerate};
pub use report::{json, text};
pub use rows::{Row, read as read_rows};
pub use tests_of::{Tests, tests_of};
