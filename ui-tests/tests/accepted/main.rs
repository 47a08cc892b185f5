//! Programs that must compile without a warning. They are modules of one program, which is faster to build than one
//! program each.

// Written as users write.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::pedantic
)]

pub mod argument_names;
pub mod attributes_of_the_function;
pub mod callbacks_that_name_each_other;
pub mod callbacks_with_optional_arguments;
pub mod classified_errors;
pub mod conditions;
pub mod constants_for_options;
pub mod constructors;
pub mod declarations;
pub mod do_not_retry_on_every_shape;
pub mod hygiene_without_prelude;
pub mod inputs;
pub mod macro_rules_everywhere;
pub mod methods;
pub mod modules_and_visibility;
pub mod options_of_a_block;
pub mod return_types;
pub mod serde_with;
pub mod state_patterns;
pub mod words_and_strings;

/// A file that is not a module would not be compiled.
#[test]
fn every_file_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/accepted");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    for file in files {
        let file = file.expect("it can be listed").path();
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let module = format!("pub mod {name};");
        assert!(
            name == "main" || include_str!("main.rs").contains(&module),
            "{name} is not a module"
        );
    }
}
