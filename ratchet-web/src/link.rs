//! Relative links. A page never contains an absolute path, so that the router works under any prefix.

use std::fmt::Write as _;

/// The way from the current page to the root of the dashboard, such as `../`.
#[derive(Debug, Clone)]
pub(crate) struct Root(String);

impl Root {
    /// Returns the root as seen from a page. `inner` is the path below the mount, `original` the path of the request.
    pub(crate) fn of(inner: &str, original: &str) -> Self {
        let depth = inner.matches('/').count().saturating_sub(1);
        if depth > 0 {
            return Self("../".repeat(depth));
        }
        // The router is nested at `/ratchet`, and the browser shows `/ratchet`: links are relative to its parent.
        let last = original.rsplit('/').next().unwrap_or_default();
        if inner == "/" && !last.is_empty() {
            return Self(format!("./{last}/"));
        }
        Self("./".to_owned())
    }

    /// Returns a link to a path of the dashboard, such as `jobs`.
    pub(crate) fn to(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Returns a link with a query.
    pub(crate) fn with(&self, path: &str, query: &[(&str, &str)]) -> String {
        let mut link = self.to(path);
        let mut separator = '?';
        for (name, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(link, "{separator}{}={}", encoded(name), encoded(value));
            separator = '&';
        }
        link
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The fields of a query or of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn read(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns the value of a field without surrounding spaces; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// Returns the values of a field that occurs several times, such as that of a list of checkboxes.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.trim())
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(field, _)| field != name);
        self.0.push((name.to_owned(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_root_from_every_depth_and_mount() {
        for (inner, original, link) in [
            ("/", "/", "./jobs"),
            ("/", "/ratchet", "./ratchet/jobs"),
            ("/", "/a/b", "./b/jobs"),
            ("/", "/a/b/", "./jobs"),
            ("/overview", "/ratchet/overview", "./jobs"),
            ("/jobs/1", "/a/b/jobs/1", "../jobs"),
            ("/api/v1/jobs/1", "/api/v1/jobs/1", "../../../jobs"),
        ] {
            assert_eq!(Root::of(inner, original).to("jobs"), link, "{original}");
        }
    }

    #[test]
    fn values_of_a_query_are_encoded() {
        let link = Root::of("/x", "/x").with("queue", &[("name", "a/../b&c=d"), ("none", "")]);
        assert_eq!(link, "./queue?name=a%2F..%2Fb%26c%3Dd");
        assert_eq!(Fields::read(b"name=a%2F..%2Fb%26c%3Dd").get("name"), "a/../b&c=d");
    }
}
