//! Checks what a builder was given.

use std::collections::BTreeMap;

use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use ipnet::IpNet;

use super::HttpPolicyError;
use crate::http::address::AllowedNetworks;
use crate::http::headers;
use crate::http::hosts::{Hosts, normal_form};

pub(super) fn checked_method(text: &str) -> Result<Method, HttpPolicyError> {
    let method = Method::from_bytes(text.as_bytes()).ok();
    let is_upper = !text.bytes().any(|byte| byte.is_ascii_lowercase());
    let method =
        method.filter(|method| is_upper && !matches!(*method, Method::CONNECT | Method::TRACE));
    method.ok_or_else(|| HttpPolicyError::BadMethod { method: text.to_owned() })
}

pub(super) fn checked_networks(texts: &[String]) -> Result<AllowedNetworks, HttpPolicyError> {
    let parse = |text: &String| {
        let network = text.clone();
        let parsed: IpNet =
            text.parse().map_err(|_| HttpPolicyError::BadNetwork { network: network.clone() })?;
        if parsed.prefix_len() < 8 {
            return Err(HttpPolicyError::NetworkTooWide { network });
        }
        Ok(parsed)
    };
    Ok(AllowedNetworks::new(texts.iter().map(parse).collect::<Result<_, _>>()?))
}

pub(super) fn checked_name(name: &str) -> Result<HeaderName, HttpPolicyError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| HttpPolicyError::BadHeader { name: name.to_owned() })
}

/// Checks the name of a header that the policy sets.
pub(super) fn checked_own_name(name: &str) -> Result<HeaderName, HttpPolicyError> {
    let checked = checked_name(name)?;
    match headers::is_reserved(&checked) {
        true => Err(HttpPolicyError::BadHeader { name: name.to_owned() }),
        false => Ok(checked),
    }
}

pub(super) type Credentials = BTreeMap<String, Vec<(HeaderName, HeaderValue)>>;

pub(super) fn checked_credentials(
    credentials: &[(String, String, String)],
    hosts: &Hosts,
) -> Result<Credentials, HttpPolicyError> {
    let mut checked = Credentials::new();
    for (host, name, value) in credentials {
        let normal =
            normal_form(host).ok_or_else(|| HttpPolicyError::BadHost { host: host.clone() })?;
        if !hosts.contains(&normal) {
            return Err(HttpPolicyError::UnknownHost { name: name.clone(), host: host.clone() });
        }
        checked_own_name(name)?;
        let header = headers::parse(name, value)
            .ok_or_else(|| HttpPolicyError::BadHeader { name: name.clone() })?;
        checked.entry(normal).or_default().push(header);
    }
    Ok(checked)
}
