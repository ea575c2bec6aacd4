//! Paths with places in them, joined to a base address so that no value can leave its segment.
//!
//! A value goes into one whole segment and is percent-encoded there. `.` and `..` would be read as steps by whoever
//! normalises the address, so neither a declared segment nor a value may be one.

use reqwest::Url;
use serde_json::Value;

use super::HttpError;
use super::answer::name;

/// A path below the base address: `/orders/{key}` or `/orders/{/order/id}/lines`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    /// The idempotency key.
    Key,
    /// What stands at this JSON pointer of the body that is sent.
    Field(String),
}

/// What a path's places are filled from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling<'a> {
    pub(super) key: &'a str,
    pub(super) body: &'a Value,
}

impl Template {
    pub(super) fn parse(path: &str) -> Result<Self, HttpError> {
        let unusable = || HttpError::Path(path.to_owned());
        let mut rest = path.strip_prefix('/').ok_or_else(unusable)?;
        let mut segments = Vec::new();
        loop {
            // A pointer has slashes of its own, so a place is read up to its brace.
            let end = match rest.strip_prefix('{') {
                Some(place) => place.find('}').ok_or_else(unusable)? + 2,
                None => rest.find('/').unwrap_or(rest.len()),
            };
            let (segment, after) = rest.split_at(end);
            segments.push(Segment::parse(segment).ok_or_else(unusable)?);
            if after.is_empty() {
                return Ok(Self(segments));
            }
            rest = after.strip_prefix('/').ok_or_else(unusable)?;
        }
    }

    /// Whether a place is filled from the body.
    pub(super) fn has_fields(&self) -> bool {
        self.0.iter().any(|segment| matches!(segment, Segment::Field(_)))
    }

    /// The address of this path below a base that paths can be put to.
    pub(super) fn join(&self, base: &Url, filling: Filling<'_>) -> Result<Url, String> {
        let segments = self.0.iter().map(|segment| segment.fill(filling));
        let segments = segments.collect::<Result<Vec<_>, _>>()?;
        let mut url = base.clone();
        let mut path = url.path_segments_mut().map_err(|()| "the address takes no path")?;
        path.pop_if_empty().extend(segments);
        drop(path);
        Ok(url)
    }
}

impl Segment {
    fn parse(text: &str) -> Option<Self> {
        if text == "{key}" {
            return Some(Self::Key);
        }
        if let Some(pointer) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            return pointer.starts_with('/').then(|| Self::Field(pointer.to_owned()));
        }
        let is_literal = is_one_segment(text) && !text.contains(['{', '}', '?', '#', '%', '\\']);
        is_literal.then(|| Self::Literal(text.to_owned()))
    }

    fn fill(&self, filling: Filling<'_>) -> Result<String, String> {
        let value = match self {
            Self::Literal(literal) => Some(literal.clone()),
            Self::Key => Some(filling.key.to_owned()),
            Self::Field(pointer) => filling.body.pointer(pointer).and_then(name),
        };
        let value = value.filter(|value| is_one_segment(value));
        value.ok_or_else(|| format!("the path's {self:?} cannot be filled"))
    }
}

fn is_one_segment(text: &str) -> bool {
    !text.chars().any(char::is_control) && !["", ".", ".."].contains(&text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn joined(base: &str, path: &str, body: &Value) -> Result<String, String> {
        let base = Url::parse(base).expect("an address");
        let template = Template::parse(path).expect("a path");
        template.join(&base, Filling { key: "k-1", body }).map(String::from)
    }

    #[test]
    fn a_path_is_put_below_the_base_whether_or_not_that_ends_in_a_slash() {
        let body = json!({"order": {"id": 7}});
        for base in ["https://a.example/v2", "https://a.example/v2/"] {
            let url = joined(base, "/orders/{/order/id}/by-key/{key}", &body);
            assert_eq!(url.as_deref(), Ok("https://a.example/v2/orders/7/by-key/k-1"));
        }
        assert_eq!(joined("http://a", "/x", &body).as_deref(), Ok("http://a/x"));
    }

    #[test]
    fn a_value_cannot_leave_its_segment() {
        for (id, encoded) in [
            ("a/b", "a%2Fb"),
            ("../x", "..%2Fx"),
            ("a?b#c", "a%3Fb%23c"),
            ("%2e%2e", "%252e%252e"),
            ("ä b", "%C3%A4%20b"),
        ] {
            let url = joined("http://a/v1", "/o/{/id}/end", &json!({"id": id}));
            assert_eq!(url, Ok(format!("http://a/v1/o/{encoded}/end")));
        }
        for id in [json!("."), json!(".."), json!(""), json!("a\n"), json!(null), json!(1.5)] {
            assert!(joined("http://a/v1", "/o/{/id}/end", &json!({"id": id})).is_err(), "{id}");
        }
        assert!(joined("http://a/v1", "/o/{/id}", &json!({})).is_err());
    }

    #[test]
    fn a_path_that_would_be_read_as_another_is_refused_where_it_is_declared() {
        for path in [
            "", "orders", "/", "//a", "/a/", "/a/../b", "/a/./b", "/a?b", "/a#b", "/%2e", "/{key",
            "/{id}", "/x{key}", "/{key}x", "/{}", "/a\\b", "/a\n",
        ] {
            let refused = Template::parse(path);
            assert!(matches!(refused, Err(HttpError::Path(_))), "{path:?}: {refused:?}");
        }
    }
}
