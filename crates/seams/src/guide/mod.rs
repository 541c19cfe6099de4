//! Five short pages, to be read in this order: [`authority`], [`order`], [`rewriting`], [`faults`],
//! [`disposal`].

#[doc = include_str!("authority.md")]
pub mod authority {}

#[doc = include_str!("order.md")]
pub mod order {}

#[doc = include_str!("rewriting.md")]
pub mod rewriting {}

#[doc = include_str!("faults.md")]
pub mod faults {}

#[doc = include_str!("disposal.md")]
pub mod disposal {}
