//! A call's identity comes from the pipeline's mint and from nowhere else.

use seamline_seams::*;

fn forge() -> [Token; 3] {
    [Token { mint: 0, serial: 7 }, Token::from(7), Token::default()]
}

fn main() {}
