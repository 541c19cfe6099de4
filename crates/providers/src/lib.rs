#![doc = include_str!("../README.md")]

pub mod chat;
pub mod mcp;
