//! A function fits a screen.

use super::{Findings, Sources};
use crate::source::{self, Keep};

/// Longer ones are named, and not refused: now and then a long table of arms is the clearest form.
const LINES_WARN: usize = 70;
const LINES_MAX: usize = 80;

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for (path, text) in sources.iter().filter(|(path, _)| !source::is_test_file(path)) {
        let code = source::blanked(source::shipped(text), Keep::CodeOnly);
        for function in functions(&code).filter(|function| function.lines > LINES_WARN) {
            let Function { name, line, lines } = function;
            let told = format!("{path}:{line}: {name} has {lines} lines; look for the noun that hides in it");
            match lines > LINES_MAX {
                true => findings.fail(told),
                false => findings.warn(told),
            }
        }
    }
    findings
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Every function with a body, from the line of its `fn` to the brace that closes it.
fn functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    code.match_indices("fn ").filter(|(at, _)| *at == 0 || is_gap(code.as_bytes()[at - 1])).filter_map(
        |(at, _)| {
            let rest = &code[at + 3..];
            let name_length = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            let body = body(rest)?;
            let line = code[..at].matches('\n').count() + 1;
            Some(Function { name: &rest[..name_length], line, lines: body.matches('\n').count() + 1 })
        },
    )
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'('
}

/// The text up to the brace that closes the body, or nothing for a function without one.
fn body(rest: &str) -> Option<&str> {
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b';' if braces == 0 && brackets == 0 => return None,
            b'{' => braces += 1,
            b'}' if braces <= 1 => return (braces == 1).then_some(&rest[..at]),
            b'}' => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(text: &str) -> Vec<String> {
        check(&Sources::from([("a.rs".into(), text.into())])).warnings
    }

    #[test]
    fn a_function_longer_than_a_screen_is_named_with_its_line() {
        let of = |lines: usize| {
            format!("x\nfn long<T>(a: [u8; 3]) {{{}}}\nfn short() {{}}\n", "\n".repeat(lines - 1))
        };
        assert_eq!(warnings(&of(70)), [""; 0]);
        assert_eq!(warnings(&of(71)).len(), 1);
        assert!(warnings(&of(71))[0].starts_with("a.rs:2: long has 71 lines"));
        let failures = |lines| check(&Sources::from([("a.rs".into(), of(lines))])).failures;
        assert_eq!((failures(80).len(), failures(81).len()), (0, 1));
    }

    #[test]
    fn functions_without_a_body_and_braces_in_strings_do_not_mislead() {
        let far = "\n".repeat(80);
        assert_eq!(warnings(&format!("trait T {{ fn a(&self) -> u8;{far} }}")), [""; 0]);
        assert_eq!(warnings(&format!("fn a() {{ \"{{\" }}{far}")), [""; 0]);
    }
}
