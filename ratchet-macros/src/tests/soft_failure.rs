//! An invalid job must still expand to its function and struct, so that one mistake causes one error and editors keep
//! working.

use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, Stmt};

use super::expand_file;

/// The cases without a struct, each with the reason: there, a struct would cause follow-up errors.
const WITHOUT_STRUCT: [(&str, &str); 10] = [
    ("placement/method_outside_of_jobs", "no item can be put into an impl block"),
    ("placement/associated_function_with_self_type", "no item can be put into an impl block"),
    ("placement/job_on_a_struct", "there is no function"),
    ("placement/job_on_an_enum", "there is no function"),
    ("placement/job_on_a_module", "there is no function"),
    ("placement/job_on_an_impl_block", "there is no function"),
    ("arguments/same_name_twice", "rustc reports it, and would again for the fields"),
    ("jobs/generic_service", "the struct would have to name the parameter"),
    ("jobs/on_a_trait_impl", "there is no job"),
    ("jobs/without_a_job", "there is no job"),
];

fn cases() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    let read = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).expect("the folder is there");
        entries.map(|entry| entry.expect("it can be listed").path()).collect()
    };
    let mut files: Vec<PathBuf> = read(&root).iter().flat_map(|theme| read(theme)).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    let name = |file: &Path| {
        let name = file.strip_prefix(&root).expect("it is below the folder").with_extension("");
        name.to_string_lossy().replace('\\', "/")
    };
    files.iter().map(|file| (name(file), fs::read_to_string(file).expect("it is text"))).collect()
}

fn is_job(attrs: &[Attribute]) -> bool {
    let is_job = |attr: &&Attribute| attr.path().is_ident("job");
    // The struct of an implementation is in the crate that declares the job.
    let elsewhere =
        |attr: &Attribute| attr.meta.to_token_stream().to_string().contains("implements");
    attrs.iter().find(is_job).is_some_and(|attr| !elsewhere(attr))
}

/// Returns the functions marked `#[job]`, each with the service it belongs to.
fn jobs(source: &str) -> Vec<(String, String)> {
    let file: syn::File = syn::parse_str(source).expect("the case parses");
    let mut jobs = Vec::new();
    for item in file.items {
        match item {
            Item::Fn(function) if is_job(&function.attrs) => {
                jobs.push((String::new(), function.sig.ident.to_string()));
            }
            Item::Impl(block) if block.attrs.iter().any(|attr| attr.path().is_ident("jobs")) => {
                let syn::Type::Path(service) = *block.self_ty else { continue };
                let service = service.path.segments[0].ident.to_string();
                jobs.extend(block.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(method) if is_job(&method.attrs) => {
                        Some((service.clone(), method.sig.ident.to_string()))
                    }
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    jobs
}

#[test]
fn the_function_and_the_struct_survive_every_mistake() {
    let mut checked = 0;
    for (case, source) in cases() {
        if WITHOUT_STRUCT.iter().any(|(exception, _)| *exception == case) {
            continue;
        }
        let jobs = jobs(&source);
        let expansion = expand_file(&source).to_string();
        for (service, name) in jobs {
            let pascal = format!("{service}{}", crate::idents::pascal_case(&name));
            let function = format!("fn {name} ");
            let structure = format!("struct {pascal}");
            assert!(expansion.contains(&function), "{case}: no `{function}` in {expansion}");
            assert!(expansion.contains(&structure), "{case}: no `{structure}` in {expansion}");
            let job = format!("__ratchet :: Job for {pascal}");
            assert!(expansion.contains(&job), "{case}: `{pascal}` is no job in {expansion}");
            checked += 1;
        }
    }
    assert!(checked > 75, "only {checked} jobs were checked");
}

/// Cases without a struct must still keep the user's item.
#[test]
fn the_item_survives_where_no_struct_can_be() {
    for (case, source) in cases() {
        let file: syn::File = syn::parse_str(&source).expect("the case parses");
        let before = functions(&file);
        let expansion = expand_file(&source);
        let after = expansion.to_string();
        for name in before {
            assert!(after.contains(&format!("fn {name} ")), "{case}: `{name}` is gone");
        }
    }
}

fn functions(file: &syn::File) -> Vec<String> {
    let mut names = Vec::new();
    for item in &file.items {
        match item {
            Item::Fn(function) => {
                names.push(function.sig.ident.to_string());
                names.extend(function.block.stmts.iter().filter_map(|stmt| match stmt {
                    Stmt::Item(Item::Fn(inner)) => Some(inner.sig.ident.to_string()),
                    _ => None,
                }));
            }
            Item::Impl(block) => names.extend(block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
                _ => None,
            })),
            _ => {}
        }
    }
    names
}
