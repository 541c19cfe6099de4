//! One binary for all integration tests: a module per container, and per rule that spans several.

#[cfg(test)]
mod answerers;
#[cfg(test)]
mod around;
#[cfg(test)]
mod authority;
#[cfg(test)]
mod chains;
#[cfg(test)]
mod contributors;
#[cfg(test)]
mod crate_facts;
#[cfg(test)]
mod disposal;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod guards_and_observers;
#[cfg(test)]
mod order;
#[cfg(test)]
mod support;
#[cfg(test)]
mod values;
#[cfg(test)]
mod waterfall;
