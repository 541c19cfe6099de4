//! What configuration files give, drop and say; trust; lint. One test binary for the three.

#[cfg(test)]
mod claude;
#[cfg(test)]
mod claude_drops;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod codex_layers;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod trust;
