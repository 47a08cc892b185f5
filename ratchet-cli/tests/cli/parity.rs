//! The commands are the verbs of `ratchet_core::VERBS`.

use std::collections::BTreeSet;

use ratchet_core::VERBS;

/// Commands that are no operations of an operator on the jobs.
const OTHERS: [&str; 20] = [
    "top",
    "health",
    "serve",
    "token",
    "keys.new",
    "keys.list",
    "keys.rotate",
    "keys.activate",
    "keys.retire",
    "keys.destroy",
    "keys.usage",
    "keys.reencrypt",
    "migrate.sql",
    "migrate.status",
    "migrate.up",
    "migrate.grants",
    "work",
    "codegen",
    "completions",
    "man",
];

#[test]
fn o_01_every_verb_is_a_command_and_every_command_a_verb() {
    let mut commands = BTreeSet::new();
    for noun in ratchet_cli::command().get_subcommands() {
        if noun.has_subcommands() {
            let names = noun
                .get_subcommands()
                .map(|verb| format!("{}.{}", noun.get_name(), verb.get_name()));
            commands.extend(names);
        } else {
            commands.insert(noun.get_name().to_owned());
        }
    }
    let verbs: BTreeSet<_> =
        VERBS.iter().map(|verb| verb.name).chain(OTHERS).map(str::to_owned).collect();
    assert_eq!(commands, verbs);
}
