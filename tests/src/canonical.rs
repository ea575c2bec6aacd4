//! Renames ids, so that two runs of one scenario can be compared byte for byte.

use std::collections::BTreeMap;

/// The text with every UUID replaced by the order of its first appearance, and every card hash by its kind.
#[must_use]
pub fn rename(text: &str) -> String {
    const UUID: usize = 36;
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut renamed = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text.get(at..at + UUID).filter(|candidate| is_uuid(candidate)) {
            Some(id) => {
                let next = names.len() + 1;
                let number = *names.entry(id).or_insert(next);
                renamed.push_str(&format!("#{number}"));
                at += UUID;
            }
            None => {
                let next = text[at..].chars().next().expect("inside the text");
                renamed.push(next);
                at += next.len_utf8();
            }
        }
    }
    renamed
}

fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
