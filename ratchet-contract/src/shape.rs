//! The model of a JSON shape: what a value of a Rust type looks like as JSON.

use std::collections::BTreeMap;

/// What a JSON value must look like. Its text form is that of the lock file.
///
/// ```
/// use ratchet_contract::Shape;
///
/// let shape: Shape = "[string(uuid)?]".parse()?;
/// assert_eq!(shape, Shape::list(Shape::optional(Shape::Text(Some("uuid".to_owned())))));
/// assert_eq!(shape.to_string(), "[string(uuid)?]");
/// # Ok::<(), ratchet_contract::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// Any JSON value, because the type takes any, or because its shape is not known.
    Any,
    /// Only `null`: `()` and unit structs.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number in the range of a Rust type.
    Integer(Integer),
    /// A number with `f32` or `f64` precision.
    Float(u8),
    /// A string with one character.
    Char,
    /// A string, with its format if it must have one.
    Text(Option<String>),
    /// `null`, or a value of the shape.
    Optional(Box<Shape>),
    /// An array of any length.
    List(Box<Shape>),
    /// An array with one value of each shape.
    Tuple(Vec<Shape>),
    /// An object whose keys are not fixed: the shapes of keys and values.
    Map(Box<Shape>, Box<Shape>),
    /// A value of one of the shapes.
    OneOf(Vec<Shape>),
    /// A type of the application, by its name in [`Types`].
    Named(String),
}

/// The named types that shapes refer to.
pub type Types = BTreeMap<String, TypeDef>;

impl Shape {
    /// A string without a format.
    pub const fn text() -> Self {
        Self::Text(None)
    }

    /// `null`, or a value of the shape.
    pub fn optional(inner: Self) -> Self {
        Self::Optional(Box::new(inner))
    }

    /// An array of the shape.
    pub fn list(item: Self) -> Self {
        Self::List(Box::new(item))
    }
}

/// The range of a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Integer {
    /// Whether negative numbers are in the range.
    pub signed: bool,
    /// The width in bits: 8, 16, 32, 64 or 128.
    pub bits: u8,
}

impl Integer {
    /// Returns the lowest number.
    pub fn lowest(self) -> i128 {
        if self.signed { i128::MIN >> (128 - u32::from(self.bits)) } else { 0 }
    }

    /// Returns the highest number. That of `u128` is reported as the highest `i128`.
    pub fn highest(self) -> i128 {
        let bits = u32::from(self.bits) - u32::from(self.signed);
        if bits >= 127 { i128::MAX } else { (1 << bits) - 1 }
    }

    /// Returns whether every number of this range is in the other one.
    pub fn fits_in(self, other: Self) -> bool {
        match (self.signed, other.signed) {
            (true, false) => false,
            (false, true) => self.bits < other.bits,
            _ => self.bits <= other.bits,
        }
    }

    /// Returns whether a double-precision number holds every number of the range exactly.
    pub fn is_exact_as_double(self) -> bool {
        self.bits <= 32
    }
}

/// The definition of a named type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeDef {
    /// An object with known fields.
    Struct(Fields),
    /// One of several variants.
    Enum(Enum),
}

/// The fields of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// The fields, in declaration order.
    pub fields: Vec<Field>,
    /// Whether other fields are refused (`deny_unknown_fields`).
    pub closed: bool,
}

impl Fields {
    /// Returns the field that takes the name, as its name or its alias.
    pub fn find(&self, name: &str) -> Option<&Field> {
        let named = self.fields.iter().find(|field| field.name == name);
        named.or_else(|| self.fields.iter().find(|field| field.aliases.iter().any(|a| a == name)))
    }
}

/// One field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name in JSON.
    pub name: String,
    /// Other names under which the field is read.
    pub aliases: Vec<String>,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether the object must have the field.
    pub required: bool,
}

/// A type with variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enum {
    /// Where JSON has the name of the variant.
    pub tagging: Tagging,
    /// The variants, in declaration order.
    pub variants: Vec<Variant>,
    /// Whether unknown variants are accepted (`#[serde(other)]`).
    pub open: bool,
}

/// Where the name of a variant is in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tagging {
    /// `"Small"`, or `{"Custom": …}`.
    External,
    /// A field of the object: `{"type": "Custom", …}`.
    Internal {
        /// The field with the name.
        tag: String,
    },
    /// A field beside the content: `{"type": "Custom", "content": …}`.
    Adjacent {
        /// The field with the name.
        tag: String,
        /// The field with the content.
        content: String,
    },
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The name in JSON.
    pub name: String,
    /// What belongs to the variant.
    pub content: Content,
}

/// The content of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Nothing.
    Unit,
    /// One value.
    Value(Shape),
    /// An array with one value of each shape.
    Tuple(Vec<Shape>),
    /// An object.
    Struct(Fields),
}
