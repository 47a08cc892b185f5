//! Hostile envelopes, signatures and sealed values: no panic, and none is accepted.

use proptest::prelude::*;
use ratchet_keyring::{Content, Envelope, Key, Keyring, Purpose, sealed_key};

const AAD: &[u8] = b"job 1, arguments";

fn keys() -> Keyring {
    let key = |name, purpose| Key::from_bytes(name, purpose, [3; 32]).expect("a key");
    Keyring::new([key("s1", Purpose::Sign), key("e1", Purpose::Encrypt)]).expect("a keyring")
}

/// An honest signed and encrypted envelope. The signature covers the sealed text.
fn honest(keys: &Keyring, args: &str) -> String {
    let sealed = keys.seal(None, AAD, args.as_bytes()).expect("seals");
    let signature = keys.sign(sealed.as_bytes()).expect("signs");
    Envelope { signature: Some(signature.into()), content: Content::Sealed(sealed.into()) }
        .to_json()
}

/// Returns the arguments if a worker would run this payload.
fn accept(keys: &Keyring, payload: &[u8]) -> Option<Vec<u8>> {
    let envelope = Envelope::parse(payload).ok()??;
    let Content::Sealed(sealed) = &envelope.content else { return None };
    keys.verify(envelope.signature.as_deref()?, sealed.as_bytes()).ok()?;
    keys.open(sealed, AAD).ok()
}

/// A small generator, so that a failure can be repeated from its seed.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }
}

/// Changes an envelope: flips, cuts, repeats and splices of it and of its parts.
fn hostile(seeded: &mut Seeded, honest: &[u8]) -> Vec<u8> {
    const PARTS: [&[u8]; 12] = [
        b"{\"$ratchet\":",
        b"\"v\":1",
        b"\"v\":2",
        b"\"sign\":\"",
        b"\"seal\":\"",
        b"\"args\":{}",
        b"s1:",
        b"e1:",
        b"\\u0000",
        b"}}",
        b"\"",
        b",",
    ];
    let mut bytes = honest.to_vec();
    for _ in 0..=seeded.below(3) {
        let at = seeded.below(bytes.len());
        match seeded.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << seeded.below(8),
            1 => bytes.truncate(at),
            2 => {
                let part = PARTS[seeded.below(PARTS.len())];
                bytes.splice(at..at, part.iter().copied());
            }
            3 => {
                let end = (at + seeded.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + seeded.below(200)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                let filler = u8::try_from(seeded.below(256)).unwrap_or(0);
                let many = seeded.below(64);
                bytes.splice(at..at, std::iter::repeat_n(filler, many));
            }
        }
    }
    bytes
}

fn attack(seed: u64, count: u64) {
    let keys = keys();
    let mut seeded = Seeded(seed);
    let args = r#"{"to":"someone@example.com","amount":125}"#;
    let honest = honest(&keys, args);
    assert_eq!(accept(&keys, honest.as_bytes()).as_deref(), Some(args.as_bytes()));
    for round in 0..count {
        let bytes = hostile(&mut seeded, honest.as_bytes());
        if let Some(accepted) = accept(&keys, &bytes) {
            // A change that leaves the same JSON, such as another way to write a letter, is the same envelope.
            assert_eq!(accepted, args.as_bytes(), "seed {seed}, round {round}: {bytes:?}");
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let _ = sealed_key(text);
            let _ = keys.open_json(AAD, text);
            let _ = keys.open_text(AAD, text);
        }
    }
}

#[test]
fn z_02_no_hostile_envelope_is_accepted() {
    for seed in [1, 0x5eed, 0xdead_beef] {
        attack(seed, 20_000);
    }
}

/// `RATCHET_ENVELOPES=10000000 cargo test --release -p ratchet-jobs-keyring --test hostile -- --ignored`
#[test]
#[ignore = "takes a minute; the number of envelopes is given by RATCHET_ENVELOPES"]
fn z_02_ten_million_hostile_envelopes() {
    let count = std::env::var("RATCHET_ENVELOPES").ok().and_then(|count| count.parse().ok());
    attack(0x00c0_ffee, count.unwrap_or(10_000_000));
}

#[test]
fn z_02_an_envelope_has_one_form() {
    for wrong in [
        r#"{"$ratchet":{"v":1}}"#,
        r#"{"$ratchet":{"v":2,"args":{}}}"#,
        r#"{"$ratchet":{"v":1,"args":{},"seal":"e1:AA"}}"#,
        r#"{"$ratchet":{"v":1,"args":{},"args":{}}}"#,
        r#"{"$ratchet":{"v":1,"args":{}},"to":"x"}"#,
        r#"{"$ratchet":{"v":1,"args":{},"more":1}}"#,
        r#"{"$ratchet":{"v":1,"sign":1,"args":{}}}"#,
        r#"{"$ratchet":null}"#,
        r#"{"$ratchet":"#,
    ] {
        assert!(Envelope::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
    for plain in ["{}", r#"{"a":1,"$ratchet":{}}"#, r#"{ "$ratchet":{}}"#, "", "\0", "null"] {
        assert_eq!(Envelope::parse(plain.as_bytes()), Ok(None), "{plain}");
    }
}

proptest! {
    #[test]
    fn z_02_an_envelope_is_read_back(args in "[a-z]{0,20}", signed: bool) {
        let json = format!("{{\"a\":\"{args}\"}}");
        let signature = signed.then(|| "s1:AAAA".into());
        let envelope = Envelope { signature, content: Content::Plain(&json) };
        let stored = envelope.to_json();
        prop_assert_eq!(Envelope::parse(stored.as_bytes()), Ok(Some(envelope.clone())));
        if signed {
            let added = Envelope::signature_overhead(2) - 43 + 4;
            prop_assert_eq!(stored.len(), json.len() + added);
        }
    }

    #[test]
    fn z_03_a_sealed_value_opens_and_has_the_documented_length(
        plain in proptest::collection::vec(any::<u8>(), 0..300),
        aad in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let keys = keys();
        let sealed = keys.seal(None, &aad, &plain).expect("seals");
        prop_assert_eq!(sealed.len(), plain.len() + ratchet_keyring::seal_overhead(plain.len()) + 2);
        prop_assert_eq!(keys.open(&sealed, &aad).expect("opens"), plain);
    }

    #[test]
    fn z_02_arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let keys = keys();
        prop_assert_eq!(accept(&keys, &bytes), None);
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(keys.verify(&text, b"m").is_err());
        prop_assert!(keys.open(&text, AAD).is_err());
    }
}
