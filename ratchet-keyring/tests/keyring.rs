//! The states of keys, tenants, rotation, files and providers.

use ratchet_keyring::{
    Canonical, Key, KeyError, KeyFile, KeyId, KeyProvider, KeyState, Keyring, KeyringError,
    ProviderError, Purpose, Zeroizing, sealed_key,
};

fn id(id: &str) -> KeyId {
    KeyId::new(id).expect("an id")
}

fn sign_key(name: &str) -> Key {
    Key::from_bytes(name, Purpose::Sign, [7; 32]).expect("a key")
}

fn encrypt_key(name: &str, byte: u8) -> Key {
    Key::from_bytes(name, Purpose::Encrypt, [byte; 32]).expect("a key")
}

fn ring(keys: impl IntoIterator<Item = Key>) -> Keyring {
    Keyring::new(keys).expect("a keyring")
}

#[test]
fn z_02_a_signature_is_the_hmac_of_the_message() {
    // The expected value was computed with the module `hmac` of Python.
    let signature = ring([sign_key("s1")]).sign(b"what do ya want for nothing?").expect("signs");
    assert_eq!(signature, "s1:N4U6/33y/x+U4ZStZt12M+AfJkK9vALwtqHqdUDSrA4");
}

#[test]
fn z_07_every_state_of_a_signing_key() {
    let message = b"message";
    let signed = ring([sign_key("s1")]).sign(message).expect("signs");
    let rotated = ring([sign_key("s1").state(KeyState::Rotated)]);
    assert_eq!(rotated.verify(&signed, message), Ok(()));
    assert!(matches!(rotated.sign(message), Err(KeyError::NoActiveKey { .. })));
    let retired = ring([sign_key("s1").state(KeyState::Retired)]);
    assert_eq!(retired.verify(&signed, message), Err(KeyError::Retired(id("s1"))));
    let destroyed = ring([sign_key("s1").state(KeyState::Destroyed)]);
    assert_eq!(destroyed.verify(&signed, message), Err(KeyError::Destroyed(id("s1"))));
    assert_eq!(ring([]).verify(&signed, message), Err(KeyError::Unknown(id("s1"))));
    let other = ring([Key::from_bytes("s1", Purpose::Sign, [8; 32]).expect("a key")]);
    assert_eq!(other.verify(&signed, message), Err(KeyError::Mismatch(id("s1"))));
    assert_eq!(ring([sign_key("s1")]).verify(&signed, b"other"), Err(KeyError::Mismatch(id("s1"))));
    let cut = &signed[..signed.len() - 3];
    assert_eq!(ring([sign_key("s1")]).verify(cut, message), Err(KeyError::Mismatch(id("s1"))));
    let wrong = ring([encrypt_key("s1", 1)]);
    assert!(matches!(wrong.verify(&signed, message), Err(KeyError::WrongPurpose { .. })));
}

#[test]
fn z_03_what_is_sealed_opens_only_with_the_same_context() {
    let keys = ring([encrypt_key("e1", 1)]);
    let sealed = keys.seal(None, b"job 1", b"secret").expect("seals");
    assert_eq!(keys.open(&sealed, b"job 1").expect("opens"), b"secret");
    assert_eq!(keys.open(&sealed, b"job 2"), Err(KeyError::Mismatch(id("e1"))));
    let again = keys.seal(None, b"job 1", b"secret").expect("seals");
    assert_ne!(sealed, again, "every seal has another nonce");
}

#[test]
fn z_07_a_tenant_whose_key_is_destroyed_cannot_be_read_and_gets_no_other_key() {
    let before = ring([encrypt_key("common", 1), encrypt_key("acme-1", 2).tenant("acme")]);
    let sealed = before.seal(Some("acme"), b"job", b"personal").expect("seals");
    assert!(sealed.starts_with("acme-1:"));
    assert!(before.seal(Some("other"), b"job", b"x").expect("seals").starts_with("common:"));
    let destroyed = encrypt_key("acme-1", 2).tenant("acme").state(KeyState::Destroyed);
    before.replace(&ring([encrypt_key("common", 1), destroyed]));
    assert_eq!(before.open(&sealed, b"job"), Err(KeyError::Destroyed(id("acme-1"))));
    let refused = before.seal(Some("acme"), b"job", b"personal");
    assert!(matches!(refused, Err(KeyError::NoActiveKey { tenant: Some(_), .. })), "{refused:?}");
}

#[test]
fn z_07_a_keyring_must_be_unambiguous() {
    let two = Keyring::new([sign_key("a"), sign_key("b")]);
    assert!(matches!(two, Err(KeyringError::TwoActive { .. })));
    let same = Keyring::new([sign_key("a"), sign_key("a").state(KeyState::Rotated)]);
    assert!(matches!(same, Err(KeyringError::DuplicateId(_))));
    assert!(matches!(
        Keyring::new([sign_key("a").tenant("t")]),
        Err(KeyringError::TenantOfOtherKey(_))
    ));
    for wrong in ["", "a:b", "ä", &"x".repeat(65)] {
        assert!(matches!(KeyId::new(wrong), Err(KeyringError::InvalidId(_))), "{wrong}");
    }
}

#[test]
fn z_07_no_debug_output_and_no_error_contains_a_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = KeyFile::create(folder.path().join("keys.json")).expect("creates");
    file.add("s1", Purpose::Sign, None).expect("adds");
    file.save().expect("saves");
    let text = std::fs::read_to_string(folder.path().join("keys.json")).expect("reads");
    let key = text.split("\"key\": \"").nth(1).and_then(|rest| rest.split('"').next());
    let key = key.expect("the key is in the file");
    let keys = Keyring::from_json(&text).expect("reads");
    let broken = Keyring::from_json(&text.replace("\"version\": 1", "\"version\": x"));
    let short = Keyring::from_json(&text.replace(key, &key[..20]));
    for shown in [format!("{keys:?} {file:?}"), format!("{broken:?} {short:?}")] {
        assert!(!shown.contains(&key[..16]), "{shown}");
        assert!(!shown.contains("[7, "), "{shown}");
    }
    assert!(format!("{keys:?}").contains("s1"));
}

#[cfg(unix)]
#[test]
fn z_07_a_key_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let mut file = KeyFile::create(&path).expect("creates");
    file.add("s1", Purpose::Sign, None).expect("adds");
    file.save().expect("saves");
    let mode = std::fs::metadata(&path).expect("exists").permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600);
    for open in [0o644, 0o640, 0o604, 0o660] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(open)).expect("sets");
        let refused = Keyring::from_file(&path);
        assert!(
            matches!(&refused, Err(KeyringError::Permissions { mode, .. }) if *mode == open),
            "{refused:?}"
        );
    }
}

#[test]
fn z_07_the_file_rotates_retires_and_destroys() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let mut file = KeyFile::create(&path).expect("creates");
    file.add("s1", Purpose::Sign, None).expect("adds");
    file.save().expect("saves");
    let first = Keyring::from_file(&path).expect("reads").sign(b"m").expect("signs");
    let refused = file.retire(&id("s1"));
    assert!(matches!(refused, Err(KeyringError::State { .. })), "an active key is not retired");
    file.prepare("s2", Purpose::Sign, None).expect("prepares");
    file.save().expect("saves");
    let keys = Keyring::from_file(&path).expect("reads");
    assert!(keys.sign(b"m").expect("signs").starts_with("s1:"), "a prepared key does not sign");
    file.activate(&id("s2")).expect("activates");
    file.save().expect("saves");
    keys.replace(&Keyring::from_file(&path).expect("reads"));
    assert!(keys.sign(b"m").expect("signs").starts_with("s2:"));
    assert_eq!(keys.verify(&first, b"m"), Ok(()), "two keys during a rotation");
    file.retire(&id("s1")).expect("retires");
    file.save().expect("saves");
    keys.replace(&Keyring::from_file(&path).expect("reads"));
    assert_eq!(keys.verify(&first, b"m"), Err(KeyError::Retired(id("s1"))));
    file.destroy(&id("s1")).expect("destroys");
    file.save().expect("saves");
    let text = std::fs::read_to_string(&path).expect("reads");
    assert_eq!(text.matches("\"key\"").count(), 1, "only the material of s2 is left");
    assert!(matches!(file.activate(&id("s1")), Err(KeyringError::State { .. })));
    keys.replace(&Keyring::from_file(&path).expect("reads"));
    assert_eq!(keys.verify(&first, b"m"), Err(KeyError::Destroyed(id("s1"))));
}

#[derive(Debug)]
struct Kms(std::sync::Arc<std::sync::atomic::AtomicU32>);

#[async_trait::async_trait]
impl KeyProvider for Kms {
    async fn unwrap_key(
        &self,
        _: &KeyId,
        wrapped: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let calls = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if calls == 0 {
            return Err(ProviderError::new("the service is down"));
        }
        let mut key = Zeroizing::new([0; 32]);
        for (byte, wrapped) in key.iter_mut().zip(wrapped) {
            *byte = wrapped ^ 0xff;
        }
        Ok(key)
    }
}

#[tokio::test]
async fn z_07_a_provider_unwraps_a_key_once() {
    let wrapped: Vec<u8> = [1_u8; 32].iter().map(|byte| byte ^ 0xff).collect();
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let key = Key::wrapped("e1", Purpose::Encrypt, wrapped).expect("a key");
    let keys = ring([key.clone()]).provider(Kms(std::sync::Arc::clone(&calls)));
    assert_eq!(keys.seal(None, b"", b"x"), Err(KeyError::Wrapped(id("e1"))));
    assert!(keys.unwrap_key(&id("e1")).await.is_err(), "the service is down");
    keys.unwrap_key(&id("e1")).await.expect("unwraps");
    let sealed = keys.seal(None, b"", b"x").expect("seals");
    keys.unwrap_key(&id("e1")).await.expect("is unwrapped");
    keys.replace(&ring([key.state(KeyState::Rotated)]));
    assert_eq!(keys.open(&sealed, b"").expect("opens"), b"x", "an unwrapped key is kept");
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(ring([encrypt_key("e1", 1)]).open(&sealed, b"").expect("opens"), b"x");
}

#[test]
fn z_03_a_reader_without_the_key_sees_which_key_encrypted() {
    let keys = ring([encrypt_key("e1", 1)]);
    let text = keys.seal_text(None, b"", "card declined").expect("seals");
    let json = keys.seal_json(None, b"", r#"{"a":[1,null]}"#).expect("seals");
    let value = keys.seal_value(None, b"", &serde_json::json!({"page": 3})).expect("seals");
    for stored in [&text, &json, &value.to_string()] {
        assert_eq!(sealed_key(stored).map(String::from).as_deref(), Some("e1"), "{stored}");
    }
    assert_eq!(sealed_key("card declined"), None);
    assert_eq!(keys.open_text(b"", &text), Some(Ok("card declined".to_owned())));
    assert_eq!(keys.open_json(b"", &json), Some(Ok(r#"{"a":[1,null]}"#.to_owned())));
    assert_eq!(keys.open_value(b"", &value), Some(Ok(serde_json::json!({"page": 3}))));
    assert_eq!(keys.open_text(b"other", &text), Some(Err(KeyError::Mismatch(id("e1")))));
    assert_eq!(keys.open_text(b"", "card declined"), None);
}

#[test]
fn z_02_the_canonical_encoding_is_fixed() {
    let encoding = Canonical::new("job", 1)
        .text("a")
        .flag(true)
        .optional_text(None)
        .list(["x"].into_iter(), Canonical::text)
        .finish();
    let expected: &[&[u8]] = &[
        &[0, 0, 0, 0, 0, 0, 0, 3],
        b"job",
        &[0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 1],
        b"a",
        &[1],
        &[0],
        &[0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 1],
        b"x",
    ];
    assert_eq!(encoding, expected.concat(), "signatures in databases depend on it");
}
