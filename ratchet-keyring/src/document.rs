//! The JSON document of a keyring, as it is stored in a file or an environment variable.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::key::Material;
use super::{Key, KeyId, KeyState, KeyringError, Purpose};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    keys: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: KeyId,
    purpose: Purpose,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tenant: Option<String>,
    state: KeyState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrapped: Option<String>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// Reads the keys of a document. The errors do not quote it.
pub(crate) fn read(text: &str) -> Result<Vec<Key>, KeyringError> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        KeyringError::Document(format!("the JSON is not valid at line {line}, column {column}"))
    })?;
    if document.version != 1 {
        let why = format!("its version is {}, and this release reads version 1", document.version);
        return Err(KeyringError::Document(why));
    }
    document.keys.iter().map(key).collect()
}

fn key(entry: &Entry) -> Result<Key, KeyringError> {
    let wrong = || KeyringError::Material(entry.id.clone());
    let material = match (&entry.key, &entry.wrapped, entry.state) {
        (None, None, KeyState::Destroyed) => Material::Destroyed,
        (_, _, KeyState::Destroyed) | (Some(_), Some(_), _) | (None, None, _) => {
            return Err(wrong());
        }
        (Some(text), None, _) => {
            let decoded = Zeroizing::new(STANDARD.decode(text).map_err(|_| wrong())?);
            let bytes: [u8; 32] = decoded.as_slice().try_into().map_err(|_| wrong())?;
            Material::Plain(Zeroizing::new(bytes))
        }
        (None, Some(text), _) => Material::Wrapped(STANDARD.decode(text).map_err(|_| wrong())?),
    };
    Ok(Key {
        id: entry.id.clone(),
        purpose: entry.purpose,
        tenant: entry.tenant.clone(),
        state: entry.state,
        material,
    })
}

/// Writes the document of these keys.
pub(crate) fn write(keys: &[Key]) -> Zeroizing<String> {
    let entry = |key: &Key| Entry {
        id: key.id.clone(),
        purpose: key.purpose,
        tenant: key.tenant.clone(),
        state: key.state,
        key: match &key.material {
            Material::Plain(bytes) => Some(STANDARD.encode(bytes.as_slice())),
            _ => None,
        },
        wrapped: match &key.material {
            Material::Wrapped(bytes) => Some(STANDARD.encode(bytes)),
            _ => None,
        },
    };
    let document = Document { version: 1, keys: keys.iter().map(entry).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("the document has only texts");
    text.push('\n');
    Zeroizing::new(text)
}
