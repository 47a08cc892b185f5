//! The contract of a program: what its jobs take and return.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::shape::{Content, Field, Fields, Shape, TypeDef, Types};

/// The contract of all jobs of a program. The lock file is its text form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contract {
    /// The jobs, by name.
    pub jobs: BTreeMap<String, JobContract>,
}

/// The contract of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobContract {
    /// Other names under which stored jobs are run.
    pub aliases: Vec<String>,
    /// The version of the payload format.
    pub version: u32,
    /// The oldest version that an upgrade function reads.
    pub upgrades_from: Option<u32>,
    /// The default queue.
    pub queue: String,
    /// Whether stored fields that no argument takes are an error.
    pub strict: bool,
    /// The templates of keys, by `business`, `idempotency` and `concurrency`.
    pub keys: BTreeMap<String, String>,
    /// The doc comment.
    pub docs: String,
    /// The arguments, in the order of the function.
    pub arguments: Vec<Argument>,
    /// The shape of the output.
    pub output: Shape,
    /// Whether the output is secret or has a secret.
    pub secret_output: bool,
    /// The named types of the arguments and of the output.
    pub types: Types,
    /// An example of a stored payload of each version.
    pub payloads: BTreeMap<u32, Value>,
}

/// A stored argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// The name in the stored JSON.
    pub name: String,
    /// Former names, under which older rows may have stored it.
    pub aliases: Vec<String>,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether a row must have it.
    pub required: bool,
    /// The value for rows that do not have it.
    pub default: Option<Value>,
    /// Whether it is displayed as `***`.
    pub secret: bool,
    /// The doc comment.
    pub docs: String,
}

impl JobContract {
    /// Creates the contract of a job without arguments, in version 1.
    pub fn new(queue: impl Into<String>) -> Self {
        Self {
            aliases: Vec::new(),
            version: 1,
            upgrades_from: None,
            queue: queue.into(),
            strict: false,
            keys: BTreeMap::new(),
            docs: String::new(),
            arguments: Vec::new(),
            output: Shape::Null,
            secret_output: false,
            types: Types::new(),
            payloads: BTreeMap::new(),
        }
    }

    /// Returns the arguments as the fields of the stored object.
    pub fn payload(&self) -> Fields {
        let fields = self.arguments.iter().map(|argument| Field {
            name: argument.name.clone(),
            aliases: argument.aliases.clone(),
            shape: argument.shape.clone(),
            required: argument.required,
        });
        Fields { fields: fields.collect(), closed: self.strict }
    }

    /// Returns the named types that a shape needs, itself included.
    pub fn used(&self, shape: &Shape) -> Types {
        let mut used = Types::new();
        self.collect(shape, &mut used);
        used
    }

    fn collect(&self, shape: &Shape, used: &mut Types) {
        let mut inner = Vec::new();
        match shape {
            Shape::Named(name) => {
                if let Some(def) = self.types.get(name)
                    && !used.contains_key(name)
                {
                    used.insert(name.clone(), def.clone());
                    inner = def.shapes();
                }
            }
            Shape::Optional(shape) | Shape::List(shape) => inner.push(&**shape),
            Shape::Map(key, value) => inner.extend([&**key, &**value]),
            Shape::Tuple(shapes) | Shape::OneOf(shapes) => inner.extend(shapes),
            _ => {}
        }
        for shape in inner {
            self.collect(shape, used);
        }
    }
}

impl TypeDef {
    /// Returns the shapes that the definition contains.
    pub(crate) fn shapes(&self) -> Vec<&Shape> {
        match self {
            Self::Struct(fields) => fields.fields.iter().map(|field| &field.shape).collect(),
            Self::Enum(def) => {
                let mut shapes = Vec::new();
                for variant in &def.variants {
                    match &variant.content {
                        Content::Unit => {}
                        Content::Value(shape) => shapes.push(shape),
                        Content::Tuple(items) => shapes.extend(items),
                        Content::Struct(fields) => {
                            shapes.extend(fields.fields.iter().map(|f| &f.shape));
                        }
                    }
                }
                shapes
            }
        }
    }
}

impl Argument {
    /// Creates a required argument.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            shape,
            required: true,
            default: None,
            secret: false,
            docs: String::new(),
        }
    }
}

impl Contract {
    /// Returns the digest of the contract, the first 16 digits of a SHA-256. Generated files contain it.
    pub fn digest(&self) -> String {
        let hash = Sha256::digest(self.to_string());
        let first = hash.iter().take(8).fold(0_u64, |digits, byte| digits << 8 | u64::from(*byte));
        format!("{first:016x}")
    }
}
