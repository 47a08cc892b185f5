//! Inspects and rewrites types: borrows, lifetimes, `impl Trait`, `Self`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprLit, GenericArgument, Generics, Ident, Lifetime, Lit, ParenthesizedGenericArguments,
    Path, PathArguments, Signature, Type, TypeArray, TypeFnPtr, TypeImplTrait, TypeInfer, TypePath,
    TypeReference, parse_quote,
};

use crate::idents;

/// Finds the first `Self` in a signature.
#[derive(Default)]
pub(crate) struct FindSelf(pub(crate) Option<Ident>);

impl<'ast> Visit<'ast> for FindSelf {
    fn visit_path(&mut self, path: &'ast Path) {
        let first = path.segments.first().map(|segment| &segment.ident);
        if let Some(first) = first.filter(|first| *first == "Self") {
            self.0.get_or_insert_with(|| first.clone());
        }
        visit::visit_path(self, path);
    }
}

/// Finds the first type in a signature that is spelled like this name alone.
pub(crate) struct FindNamed<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) found: Option<Ident>,
}

impl<'ast> Visit<'ast> for FindNamed<'_> {
    fn visit_type_path(&mut self, ty: &'ast TypePath) {
        let only = ty.path.segments.first().filter(|_| ty.path.segments.len() == 1);
        if let Some(only) = only.filter(|only| only.ident == *self.name) {
            self.found.get_or_insert_with(|| only.ident.clone());
        }
        visit::visit_type_path(self, ty);
    }
}

/// Finds the first `impl Trait` in a type.
#[derive(Default)]
pub(crate) struct FindImpl(pub(crate) Option<TypeImplTrait>);

impl<'ast> Visit<'ast> for FindImpl {
    fn visit_type_impl_trait(&mut self, found: &'ast TypeImplTrait) {
        self.0.get_or_insert_with(|| found.clone());
    }
}

/// The reason why a type cannot be stored, judged by its syntax.
pub(crate) enum Unowned {
    Borrow(TypeReference),
    Lifetime(Lifetime),
    Opaque(TypeImplTrait),
    /// `_`, as in `Vec<_>`.
    Inferred,
    /// `Cow<str>`: a lifetime is left out.
    Elided(Path),
    /// `[u8; 64]`: serde stores at most 32 elements.
    Long(TypeArray),
    /// `Rc<T>`, which cannot move to another thread.
    Shared(Path),
}

/// Finds the first part of a type that does not own its data.
pub(crate) struct FindUnowned<'a> {
    generics: &'a Generics,
    found: Option<Unowned>,
}

impl<'a> FindUnowned<'a> {
    pub(crate) fn look(generics: &'a Generics, ty: &Type) -> Option<Unowned> {
        let mut find = Self { generics, found: None };
        find.visit_type(ty);
        find.found
    }

    fn is_declared(&self, lifetime: &Lifetime) -> bool {
        self.generics.lifetimes().any(|declared| declared.lifetime == *lifetime)
    }
}

impl<'ast> Visit<'ast> for FindUnowned<'_> {
    fn visit_type_reference(&mut self, borrow: &'ast TypeReference) {
        self.found.get_or_insert_with(|| Unowned::Borrow(borrow.clone()));
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        // A lifetime declared by the function has already been reported at its declaration.
        if lifetime.ident != "static" && !self.is_declared(lifetime) {
            self.found.get_or_insert_with(|| Unowned::Lifetime(lifetime.clone()));
        }
    }

    fn visit_type_impl_trait(&mut self, opaque: &'ast TypeImplTrait) {
        self.found.get_or_insert_with(|| Unowned::Opaque(opaque.clone()));
    }

    fn visit_type_array(&mut self, array: &'ast TypeArray) {
        let length = match &array.len {
            Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => length.base10_parse::<u64>().ok(),
            _ => None,
        };
        if length.is_some_and(|length| length > 32) {
            self.found.get_or_insert_with(|| Unowned::Long(array.clone()));
        }
        visit::visit_type_array(self, array);
    }

    fn visit_type_infer(&mut self, _: &'ast TypeInfer) {
        self.found.get_or_insert(Unowned::Inferred);
    }

    // Spelling decides only the wording: without this the compiler would refuse the types several times.
    fn visit_path(&mut self, path: &'ast Path) {
        if is_elided_cow(path) {
            self.found.get_or_insert_with(|| Unowned::Elided(path.clone()));
        }
        if ends_with(path, "Rc") {
            self.found.get_or_insert_with(|| Unowned::Shared(path.clone()));
        }
        visit::visit_path(self, path);
    }

    // The arguments of a function type are not stored data.
    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments(&mut self, _: &'ast ParenthesizedGenericArguments) {}
}

fn is_elided_cow(path: &Path) -> bool {
    let Some(last) = path.segments.last() else { return false };
    let PathArguments::AngleBracketed(args) = &last.arguments else { return false };
    let is_lifetime = |arg: &GenericArgument| matches!(arg, GenericArgument::Lifetime(_));
    last.ident == "Cow" && !args.args.iter().any(is_lifetime)
}

/// Returns whether a type is spelled with `Secret<…>`, such as `Option<ratchet::Secret<String>>`.
pub(crate) fn has_secret(ty: &Type) -> bool {
    struct Find(bool);

    impl<'ast> Visit<'ast> for Find {
        fn visit_path(&mut self, path: &'ast Path) {
            let generic = |last: &syn::PathSegment| {
                matches!(last.arguments, PathArguments::AngleBracketed(_))
            };
            self.0 |=
                path.segments.last().is_some_and(|last| last.ident == "Secret" && generic(last));
            visit::visit_path(self, path);
        }
    }

    let mut find = Find(false);
    find.visit_type(ty);
    find.0
}

/// Returns the type of the elements of a type that is spelled `Vec<T>`.
pub(crate) fn list_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Vec")?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.first() {
        Some(GenericArgument::Type(elem)) if args.args.len() == 1 => Some(elem),
        _ => None,
    }
}

/// Makes the lifetimes that are left out `'static`, so that rustc does not report them again in the function.
pub(crate) fn complete_lifetimes(sig: &mut Signature) {
    struct Complete;

    impl VisitMut for Complete {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                lifetime.ident = Ident::new("static", lifetime.ident.span());
            }
        }

        fn visit_path_mut(&mut self, path: &mut Path) {
            if is_elided_cow(path)
                && let Some(last) = path.segments.last_mut()
                && let PathArguments::AngleBracketed(args) = &mut last.arguments
            {
                args.args.insert(0, parse_quote!('static));
            }
            visit_mut::visit_path_mut(self, path);
        }
    }

    Complete.visit_signature_mut(sig);
}

/// Returns the error type in `-> Result<T, E>` if its spelling shows that it cannot be the error of a job, and what to
/// write instead.
pub(crate) fn unsuitable_error(returns: &Type) -> Option<(&Type, &'static str)> {
    let Type::Path(path) = returns else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    let Some(GenericArgument::Type(error)) = args.args.get(1) else { return None };
    const BOXED: &str = "return `Box<dyn std::error::Error + Send + Sync>`, which `?` and `.into()` make from a text, or an error type of your own";
    let remedy = match error {
        Type::Path(path) if path.path.is_ident("String") => BOXED,
        Type::Reference(text) => match &*text.elem {
            Type::Path(path) if path.path.is_ident("str") => BOXED,
            _ => return None,
        },
        Type::Tuple(tuple) if tuple.elems.is_empty() => {
            "it would not say what went wrong; return an error type of your own"
        }
        Type::Path(path) if is_box_of_local_error(&path.path) => {
            "a failure crosses threads; write `Box<dyn std::error::Error + Send + Sync>`"
        }
        _ => return None,
    };
    Some((error, remedy))
}

/// Recognizes `Box<dyn Error>` without `Send + Sync`.
fn is_box_of_local_error(path: &Path) -> bool {
    let text = idents::text(path.to_token_stream());
    let inner = text.strip_suffix('>').and_then(|text| text.split_once("Box<dyn "));
    inner.is_some_and(|(_, inner)| matches!(inner, "Error" | "std::error::Error" | "StdError"))
}

/// Returns the owned type to suggest instead of a borrow: `String` for `&str`.
pub(crate) fn owned(borrow: &TypeReference) -> Type {
    match &*borrow.elem {
        Type::Path(path) if path.path.is_ident("str") => parse_quote!(String),
        Type::Path(path) if ends_with(&path.path, "Path") => parse_quote!(PathBuf),
        Type::Path(path) if ends_with(&path.path, "OsStr") => parse_quote!(OsString),
        Type::Path(path) if ends_with(&path.path, "CStr") => parse_quote!(CString),
        Type::Slice(slice) => {
            let elem = &slice.elem;
            parse_quote!(Vec<#elem>)
        }
        elem => elem.clone(),
    }
}

/// Returns the borrow in `-> &T` or `-> Result<&T, E>`. This only improves the message: rustc rejects other cases.
pub(crate) fn borrowed_result(returns: &Type) -> Option<&TypeReference> {
    match returns {
        Type::Reference(borrow) => Some(borrow),
        Type::Path(path) if ends_with(&path.path, "Result") => {
            let PathArguments::AngleBracketed(args) = &path.path.segments.last()?.arguments else {
                return None;
            };
            match args.args.first()? {
                GenericArgument::Type(Type::Reference(borrow)) => Some(borrow),
                _ => None,
            }
        }
        _ => None,
    }
}

fn ends_with(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == name)
}

/// Rewrites a rejected type so that it compiles inside a struct, to avoid follow-up errors.
pub(crate) struct Erase<'a> {
    generics: &'a Generics,
}

impl<'a> Erase<'a> {
    pub(crate) fn new(generics: &'a Generics) -> Self {
        Self { generics }
    }

    pub(crate) fn in_argument(&mut self, ty: &mut Type) {
        if self.mentions_generics(ty) {
            *ty = parse_quote!(());
        }
        self.visit_type_mut(ty);
    }

    pub(crate) fn in_return(&mut self, ty: &mut Type) {
        if self.mentions_generics(ty) {
            *ty = parse_quote!(());
        }
    }

    fn mentions_generics(&self, ty: &Type) -> bool {
        let mentioned = idents_of(ty.to_token_stream());
        self.generics.type_params().any(|param| mentioned.contains(&param.ident))
            || self.generics.const_params().any(|param| mentioned.contains(&param.ident))
            || self.generics.lifetimes().any(|param| mentioned.contains(&param.lifetime.ident))
    }
}

/// Returns whether the word occurs in the tokens.
pub(crate) fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}

fn idents_of(tokens: TokenStream) -> Vec<Ident> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(ident) => vec![ident],
            TokenTree::Group(group) => idents_of(group.stream()),
            _ => Vec::new(),
        })
        .collect()
}

impl VisitMut for Erase<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Reference(borrow) => *ty = owned(borrow),
            Type::ImplTrait(_) | Type::Infer(_) => *ty = parse_quote!(()),
            Type::Path(path) if is_elided_cow(&path.path) || ends_with(&path.path, "Rc") => {
                *ty = parse_quote!(());
            }
            _ => {}
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            lifetime.ident = Ident::new("static", lifetime.ident.span());
        }
    }

    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
}

/// Replaces `Self` in the type with the type of the `impl` block.
pub(crate) fn resolve_self(ty: &mut Type, owner: Option<&Path>) {
    if let Some(owner) = owner {
        Resolve(owner).visit_type_mut(ty);
    }
}

struct Resolve<'a>(&'a Path);

impl VisitMut for Resolve<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty {
            let is_self = path.path.segments.first().is_some_and(|segment| segment.ident == "Self");
            if is_self && path.qself.is_none() {
                let owner = self.0;
                let rest = path.path.segments.iter().skip(1);
                *ty = match path.path.segments.len() {
                    1 => parse_quote!(#owner),
                    _ => parse_quote!(<#owner>::#(#rest)::*),
                };
                return;
            }
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Formats a type for error messages.
pub(crate) fn text(ty: &Type) -> String {
    idents::text(ty.to_token_stream())
}
