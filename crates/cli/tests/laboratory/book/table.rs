//! The table of algorithms in the README, made from the catalog.

use std::fs;

use doorway_catalog::Catalog;
use doorway_core::About;

use super::{is_updating, place, read};

const BEGIN: &str = "<!-- Made from the catalog: INSTA_UPDATE=always cargo test -p doorway-cli --test laboratory table -->\n\n";
const END: &str = "\n<!-- The end of the table. -->\n";

fn table(catalog: &Catalog) -> String {
    let head = "| algorithm | excludes by | messages per entry | delay | needs |\n|---|---|---|---|---|\n";
    let list = catalog.list().into_iter().filter(|about| about.specimen.is_none());
    head.to_owned() + &list.map(row).collect::<String>()
}

fn row(about: &About) -> String {
    let About { name, messages, delay, .. } = about;
    let file = format!("crates/algorithms/src/message/{}.rs", name.replace('-', "_"));
    let (family, needs) = (about.family.name(), about.needs.name());
    // A bar would end the cell.
    let messages = messages.formula.replace('|', "\\|");
    format!("| [{name}]({file}) | {family} | {messages} | {delay} | {needs} |\n")
}

#[test]
fn the_table_of_algorithms_is_that_of_the_catalog() {
    let readme = read("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("the mark before the table");
    let (found, after) = rest.split_once(END).expect("the mark after the table");
    let table = table(&Catalog::textbook());
    if is_updating() {
        let renewed = [before, BEGIN, &table, END, after].concat();
        fs::write(place("README.md"), renewed).expect("the README can be written");
    } else {
        assert_eq!(found, table);
    }
}
