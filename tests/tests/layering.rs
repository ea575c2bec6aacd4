//! What may know of what: arrows between crates, libraries and the one crate that may use each, and no word of the
//! sample domain beneath it. Plus what no file may hold.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// Who stands where. An arrow goes from a crate to one of a lower rank, and from nowhere else. A new crate has to be
/// given its place.
const RANKS: [(&str, u8); 13] = [
    ("turnframe-core", 0),
    ("turnframe-ledger", 1),
    ("turnframe-provider", 1),
    ("turnframe-runtime", 2),
    ("turnframe-actors", 3),
    ("turnframe-destinations", 3),
    ("turnframe-test", 3),
    ("turnframe-travel", 4),
    ("turnframe-server", 4),
    ("turnframe", 5),
    ("turnframe-bench", 5),
    ("turnframe-cli", 6),
    ("turnframe-tests", 7),
];

/// Libraries and the crates that may use them. Beyond these each would leak: SQL above the ledger, HTTP below the
/// server, an actor framework into decisions.
const OWNERS: [(&[&str], &[&str]); 5] = [
    // The test kit makes and drops databases of a throwaway server.
    (&["sqlx"], &["turnframe-ledger", "turnframe-test"]),
    // The sample domain holds an airline of its own, which is reached over HTTP.
    (
        &["axum", "http", "hyper", "tower"],
        &["turnframe-server", "turnframe-travel", "turnframe-provider", "turnframe-cli"],
    ),
    (
        &["reqwest"],
        &[
            "turnframe-server",
            "turnframe-travel",
            "turnframe-provider",
            "turnframe-cli",
            "turnframe-destinations",
            // A bench's effects go where a destination's go.
            "turnframe-bench",
        ],
    ),
    (&["lettre"], &["turnframe-destinations"]),
    (&["ractor"], &["turnframe-actors"]),
];

/// What the core must not even reach through others: async, I/O, a clock, randomness.
const NEVER_IN_CORE: [&str; 11] = [
    "async-trait",
    "axum",
    "dashmap",
    "futures",
    "getrandom",
    "hyper",
    "rand",
    "ractor",
    "reqwest",
    "sqlx",
    "tokio",
];

/// Words of the sample domain, in the languages it speaks.
const DOMAIN: [&str; 41] = [
    "airline",
    "airlines",
    "airport",
    "airports",
    "baggage",
    "booking",
    "bookings",
    "fare",
    "fares",
    "flight",
    "flights",
    "hotel",
    "hotels",
    "itinerary",
    "itineraries",
    "luggage",
    "passenger",
    "passengers",
    "rebook",
    "rebooked",
    "rebooking",
    "rebookings",
    "rebooks",
    "seat",
    "seats",
    "traveler",
    "travelers",
    "traveller",
    "travellers",
    "trip",
    "trips",
    "buchung",
    "flug",
    "flüge",
    "gepäck",
    "passagier",
    "reise",
    "reisen",
    "sitzplatz",
    "umbuchen",
    "umbuchung",
];

/// Where a word of the domain means something else: the word before it, itself, and why.
const OTHER_MEANINGS: [(&str, &str, &str); 2] = [
    ("round", "trip", "a value that is written and read back"),
    ("in", "flight", "under way at the same time"),
];

/// Where words of the domain belong.
const DOMAIN_LIVES_IN: [&str; 4] =
    ["crates/turnframe-travel", "crates/turnframe-cli", "tests", "benches"];

#[test]
fn arrows_between_crates_go_down_only() {
    let metadata = metadata();
    let ranks = BTreeMap::from(RANKS);
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let rank = ranks.get(name).unwrap_or_else(|| unreachable!("{name} has no place yet"));
        for dependency in shipped(package) {
            if let Some(below) = ranks.get(dependency.as_str()) {
                assert!(below < rank, "{name} may not depend on {dependency}");
            }
        }
    }
}

#[test]
fn each_library_stays_with_the_crate_it_belongs_to() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        for dependency in shipped(package) {
            for (libraries, owners) in OWNERS {
                let is_owned = libraries.contains(&dependency.as_str());
                assert!(!is_owned || owners.contains(&name), "{name} may not use {dependency}");
            }
        }
    }
}

#[test]
fn the_core_reaches_no_runtime_no_store_and_no_network() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let core = packages.iter().find(|it| it.name.as_str() == "turnframe-core").expect("the core");
    let reached = reached(&metadata, &core.id);
    assert!(reached.contains("serde"), "what is reached: {reached:?}");
    for library in NEVER_IN_CORE {
        assert!(!reached.contains(library), "the core reaches {library}");
    }
}

#[test]
fn no_word_of_the_sample_domain_stands_beneath_it() {
    let found = lines_of(&["rs", "sql", "html", "js", "css"], |path, line| {
        let is_at_home = DOMAIN_LIVES_IN.iter().any(|home| path.starts_with(home));
        !is_at_home && speaks_of_the_domain(line)
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_word_is_found_in_names_and_sentences_and_in_no_other_word() {
    for said in ["a Trip", "trip_id", "RequestRebooking", "LUGGAGE", "let seat = 1;", "Flüge"] {
        assert!(speaks_of_the_domain(said), "{said}");
    }
    for said in ["stripped", "round trip", "round-trips", "turns_in_flight_max", "welfare"] {
        assert!(!speaks_of_the_domain(said), "{said}");
    }
}

#[test]
fn nothing_is_ignored_left_open_or_taken_for_granted() {
    // Written apart, so that this line is none of them.
    let never = [
        concat!("#[", "ignore"),
        concat!("todo", "!("),
        concat!(".unwrap", "()"),
        concat!("dbg", "!("),
    ];
    let found = lines_of(&["rs"], |_, line| never.iter().any(|it| line.contains(it)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let homes = [
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
        concat!("/wo", "rk/"),
        concat!("C:", "\\"),
    ];
    let hosts = [
        concat!("crates", ".io"),
        concat!("npm", "js"),
        concat!("pyp", "i.org"),
        concat!("artifact", "ory"),
        concat!("local", "domain"),
    ];
    let kinds = ["rs", "toml", "md", "sql", "html", "js", "css", "yml", "yaml", "json", "sh", ""];
    let found = lines_of(&kinds, |_, line| homes.iter().chain(&hosts).any(|it| line.contains(it)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_locked_package_comes_from_the_public_registry() {
    let public = format!(
        "source = \"registry+https://github.com/rust-lang/{}-index\"",
        concat!("crates", ".io")
    );
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("a lock file");
    let elsewhere: Vec<_> =
        lock.lines().filter(|line| line.starts_with("source = ") && *line != public).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the workspace").to_owned()
}

/// The graph as it is built on this machine: packages of other platforms need not be there.
fn metadata() -> Metadata {
    let cargo = std::env::var("CARGO").expect("run by cargo");
    let version = Command::new(cargo).arg("-vV").output().expect("cargo says its version").stdout;
    let version = String::from_utf8(version).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let platform = ["--filter-platform".to_owned(), host.to_owned()];
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).other_options(platform);
    command.exec().expect("the workspace's metadata")
}

/// What a package is built from, without what only its tests use.
fn shipped(package: &Package) -> impl Iterator<Item = &String> {
    let ships = |kind| kind != DependencyKind::Development;
    package.dependencies.iter().filter(move |it| ships(it.kind)).map(|it| &it.name)
}

/// Everything a package is built from, however far away.
fn reached(metadata: &Metadata, from: &PackageId) -> BTreeSet<String> {
    let graph = metadata.resolve.as_ref().expect("a resolved graph");
    let mut names = BTreeSet::new();
    let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(id) = open.pop() {
        names.insert(metadata[id].name.to_string());
        let node = graph.nodes.iter().find(|node| node.id == *id).expect("a node");
        for dependency in &node.deps {
            let ships = |it: &cargo_metadata::DepKindInfo| it.kind != DependencyKind::Development;
            if dependency.dep_kinds.iter().any(ships) && seen.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    names
}

fn speaks_of_the_domain(line: &str) -> bool {
    let words = words(line);
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).map(|before| words[before].as_str());
        let means_something_else = |(first, second, _): &(&str, &str, &str)| {
            before == Some(*first) && word.trim_end_matches('s') == *second
        };
        DOMAIN.contains(&word.as_str()) && !OTHER_MEANINGS.iter().any(means_something_else)
    })
}

/// The words of a line in lower case; a name is cut at its humps and underscores.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in line.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The lines of the workspace's files of these kinds that a predicate finds, with where they stand.
fn lines_of(kinds: &[&str], finds: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let root = root();
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    let mut files = 0;
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let within = path.strip_prefix(&root).expect("within the workspace");
            // In a further working tree `.git` is a file.
            if ["target", ".git"].iter().any(|it| within.ends_with(it)) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let kind = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
            if !kinds.contains(&kind) {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            files += 1;
            for (number, line) in text.lines().enumerate() {
                if finds(within, line) {
                    found.push(format!("{}:{}: {}", within.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(files > 50, "only {files} files were read");
    found
}
