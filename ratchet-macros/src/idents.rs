//! Identifiers: case conversion, names of generated items, and types as text.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// Converts `send_email` to `SendEmail`.
pub(crate) fn pascal_case(name: &str) -> String {
    name.split('_').flat_map(capitalised).collect()
}

fn capitalised(word: &str) -> impl Iterator<Item = char> {
    let mut chars = word.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars)
}

/// Converts `MailService` to `mail_service`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (i, c) in chars.iter().enumerate() {
        let after_lower = i > 0 && !chars[i - 1].is_uppercase() && chars[i - 1] != '_';
        let before_lower = i > 0
            && chars[i - 1].is_uppercase()
            && chars.get(i + 1).is_some_and(|c| c.is_lowercase());
        if c.is_uppercase() && (after_lower || before_lower) {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// Returns the identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Creates the identifier of a local in generated code. Mixed-site hygiene prevents a clash with an argument of the
/// same name.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Returns the name of the constant generated for an argument: `to` becomes `__TO`.
///
/// Items have no hygiene. The underscores prevent the constant from capturing a user's `[u8; TO]`.
pub(crate) fn constant(name: &Ident, taken: &[Ident]) -> Ident {
    let mut text = format!("__{}", plain(name).to_uppercase());
    while taken.iter().any(|ident| *ident == text) {
        text.push('_');
    }
    Ident::new(&text, name.span().resolved_at(Span::mixed_site()))
}

/// Common names of the prelude. A struct with one of these names would shadow it in the user's module.
#[rustfmt::skip]
const PRELUDE: [&str; 44] = [
    "AsMut", "AsRef", "AsyncFn", "AsyncFnMut", "AsyncFnOnce", "Box", "Clone", "Copy", "Debug", "Default",
    "DoubleEndedIterator", "Drop", "Eq", "Err", "Error", "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce",
    "From", "FromIterator", "Future", "Hash", "Into", "IntoFuture", "IntoIterator", "Iterator", "None", "Ok",
    "Option", "Ord", "PartialEq", "PartialOrd", "Result", "Send", "Sized", "Some", "String", "Sync",
    "ToOwned", "ToString", "TryFrom", "TryInto",
];

/// Returns whether a struct with this name would shadow a common name of the prelude.
pub(crate) fn shadows_prelude(name: &str) -> bool {
    PRELUDE.contains(&name) || matches!(name, "Unpin" | "Vec" | "Self")
}

/// Formats a type or path, for example `Option<Vec<u8>>`. The result does not depend on the compiler version.
pub(crate) fn text(tokens: TokenStream) -> String {
    let mut out = String::new();
    write(tokens, &mut out);
    out
}

fn write(tokens: TokenStream, out: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write(group.stream(), out);
                out.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                separator @ (',' | ';') => {
                    out.push(separator);
                    out.push(' ');
                }
                '+' => out.push_str(" + "),
                other => out.push(other),
            },
            word => {
                // Adjacent words (`dyn Fn`) need a space between them, and so does a word after an arrow.
                if out.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    out.push(' ');
                }
                out.push_str(&word.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::{format_ident, quote};

    use super::{constant, pascal_case, shadows_prelude, snake_case, text};

    #[test]
    fn structs_are_named_after_their_function() {
        assert_eq!(pascal_case("send_email"), "SendEmail");
        assert_eq!(pascal_case("sha256_of"), "Sha256Of");
        assert_eq!(pascal_case("_hidden__job"), "HiddenJob");
    }

    #[test]
    fn services_are_stored_in_snake_case() {
        assert_eq!(snake_case("MailService"), "mail_service");
        assert_eq!(snake_case("HTTPClient"), "http_client");
        assert_eq!(snake_case("S3"), "s3");
    }

    #[test]
    fn types_read_as_written() {
        assert_eq!(text(quote!(Option<Vec<u8>>)), "Option<Vec<u8>>");
        assert_eq!(text(quote!((String, [u8; 4]))), "(String, [u8; 4])");
        assert_eq!(text(quote!(Box<dyn Fn() + Send>)), "Box<dyn Fn() + Send>");
        assert_eq!(
            text(quote!(std::collections::HashMap<String, i64>)),
            "std::collections::HashMap<String, i64>"
        );
    }

    #[test]
    fn constants_of_arguments_differ() {
        let first = constant(&format_ident!("a_b"), &[]);
        let second = constant(&format_ident!("A_b"), std::slice::from_ref(&first));
        assert_eq!((first.to_string().as_str(), second.to_string().as_str()), ("__A_B", "__A_B_"));
        assert_eq!(constant(&format_ident!("r#type"), &[]), "__TYPE");
    }

    #[test]
    fn the_prelude_is_not_shadowed() {
        assert!(shadows_prelude(&pascal_case("result")));
        assert!(shadows_prelude(&pascal_case("vec")));
        assert!(!shadows_prelude(&pascal_case("send_email")));
    }
}
