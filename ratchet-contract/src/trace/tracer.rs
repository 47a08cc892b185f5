//! The deserializer that types are traced with: it gives each type a value that it accepts, and records what it wants.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

use super::error::{Problem, TraceError};
use super::node::{Buffered, Form, Kind, NodeId, Step};
use super::replay::Replay;
use super::samples::{INTEGERS, TEXTS};
use super::session::{DEPTH, Session, UNKNOWN};
use crate::shape::{Integer, Shape, Tagging};

/// The deserializer that traces a type. Created by `trace`.
#[derive(Debug)]
pub struct Tracer<'s> {
    pub(super) session: &'s mut Session,
    pub(super) node: NodeId,
    /// Gives the smallest value, because a type contains itself.
    pub(super) minimal: bool,
    pub(super) depth: usize,
    /// The value is the tag of this adjacently tagged enum.
    pub(super) tag_of: Option<NodeId>,
}

type Traced<T> = Result<T, TraceError>;

impl<'s> Tracer<'s> {
    fn part(&mut self, step: Step) -> Tracer<'_> {
        let node = self.session.child(self.node, step);
        // A type that fails before it reads anything fails here.
        self.session.last = node;
        let (minimal, depth) = (self.minimal, self.depth + 1);
        Tracer { session: &mut *self.session, node, minimal, depth, tag_of: None }
    }

    fn touch(&mut self, kind: impl FnOnce() -> Kind) {
        self.session.touch(self.node, kind);
    }

    fn fixed(&mut self, shape: Shape) {
        self.touch(|| Kind::Fixed(shape));
    }

    fn integer(&mut self, signed: bool, bits: u8) -> i8 {
        self.touch(|| Kind::Integer(Integer { signed, bits }, 0));
        match self.session.nodes[self.node].kind {
            Kind::Integer(_, choice) => INTEGERS.get(choice).copied().unwrap_or(1),
            _ => 1,
        }
    }

    fn text(&mut self) -> &'static str {
        self.touch(|| Kind::Text(0));
        match self.session.nodes[self.node].kind {
            Kind::Text(choice) => TEXTS.get(choice).map_or("", |(text, _)| text),
            _ => "",
        }
    }

    /// Enters a named type. If an ancestor is the same type, continues there with the smallest value.
    fn enter(mut self, identity: &'static str) -> Traced<Tracer<'s>> {
        if self.depth > DEPTH {
            return Err(TraceError::custom("the type contains itself without an end"));
        }
        if self.session.nodes[self.node].identity == identity {
            return Ok(self);
        }
        if let Some(ancestor) = self.session.recursion(self.node, identity) {
            self.touch(|| Kind::Recursion(ancestor));
            (self.node, self.minimal) = (ancestor, true);
        } else {
            self.session.nodes[self.node].identity = identity;
        }
        Ok(self)
    }

    /// Lets the type read a value that was found by trying.
    fn buffered<'de, V: Visitor<'de>>(mut self, expecting: String, visitor: V) -> Traced<V::Value> {
        self.touch(|| Kind::Buffered(Buffered { expecting, inferred: None }));
        let planned = match &self.session.plan.replay {
            Some((node, value)) if *node == self.node => Some(value.clone()),
            _ => None,
        };
        let value = planned.or_else(|| match &self.session.nodes[self.node].kind {
            Kind::Buffered(state) => state.inferred.as_ref()?.sample.clone(),
            _ => None,
        });
        match value {
            Some(value) => Replay(&value).deserialize_any(visitor),
            None => Err(TraceError(Problem::Pending)),
        }
    }

    fn fields<'de, V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        let mut fields = self.session.offered(self.node);
        if self.session.plan.extra == Some(self.node) {
            fields.insert(0, UNKNOWN);
        }
        visitor.visit_map(FieldAccess { tracer: self, fields: fields.into_iter(), field: None })
    }

    fn elements<'de, V: Visitor<'de>>(self, count: usize, visitor: V) -> Traced<V::Value> {
        visitor.visit_seq(Elements { tracer: self, next: 0, count })
    }
}

/// Returns what a visitor says that it expects.
fn expecting<'de>(visitor: &impl Visitor<'de>) -> String {
    (visitor as &dyn Expected).to_string()
}

macro_rules! integers {
    ($($method:ident $visit:ident $signed:literal $bits:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
            let value = self.integer($signed, $bits);
            visitor.$visit(value.try_into().unwrap_or_default())
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = TraceError;

    integers! {
        deserialize_i8 visit_i8 true 8;
        deserialize_i16 visit_i16 true 16;
        deserialize_i32 visit_i32 true 32;
        deserialize_i64 visit_i64 true 64;
        deserialize_i128 visit_i128 true 128;
        deserialize_u8 visit_u8 false 8;
        deserialize_u16 visit_u16 false 16;
        deserialize_u32 visit_u32 false 32;
        deserialize_u64 visit_u64 false 64;
        deserialize_u128 visit_u128 false 128;
    }

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        let expecting = expecting(&visitor);
        if expecting.starts_with("struct variant ") {
            self.touch(|| Session::new_struct(None, &[]));
            return self.fields(visitor);
        }
        if expecting.starts_with("unit variant ") {
            self.fixed(Shape::Null);
            return visitor.visit_unit();
        }
        self.buffered(expecting, visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Bool);
        visitor.visit_bool(true)
    }

    fn deserialize_f32<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Float(32));
        visitor.visit_f32(1.0)
    }

    fn deserialize_f64<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Float(64));
        visitor.visit_f64(1.0)
    }

    fn deserialize_char<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Char);
        visitor.visit_char('a')
    }

    fn deserialize_str<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        let text = self.text();
        visitor.visit_str(text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_str(visitor)
    }

    /// JSON has no bytes: they are stored as an array of numbers.
    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::list(Shape::Integer(Integer { signed: false, bits: 8 })));
        visitor.visit_bytes(&[1])
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Traced<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.touch(|| Kind::Option);
        if self.minimal { visitor.visit_none() } else { visitor.visit_some(self.part(Step::Some)) }
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Null);
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Traced<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Traced<V::Value> {
        // `RawValue` takes any value, through a name that only `serde_json` knows.
        if name.starts_with("$serde_json::private") {
            self.fixed(Shape::Any);
            return visitor.visit_map(serde::de::value::MapDeserializer::new(std::iter::once((
                name, "null",
            ))));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.touch(|| Kind::List);
        let count = usize::from(!self.minimal);
        visitor.visit_seq(Items { tracer: self, count })
    }

    fn deserialize_tuple<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Traced<V::Value> {
        self.touch(|| Kind::Tuple(len));
        self.elements(len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Traced<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        let expecting = expecting(&visitor);
        // A struct with `#[serde(flatten)]` reads the values before it knows their types.
        if expecting.starts_with("struct ") {
            return self.buffered(expecting, visitor);
        }
        self.touch(|| Kind::Map);
        let count = usize::from(!self.minimal);
        visitor.visit_map(Entries { tracer: self, count })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Traced<V::Value> {
        let mut tracer = self.enter(std::any::type_name::<V>())?;
        if let [tag, content] = fields
            && expecting(&visitor).starts_with("adjacently tagged enum ")
        {
            let tagging =
                Tagging::Adjacent { tag: (*tag).to_owned(), content: (*content).to_owned() };
            tracer.touch(|| Session::new_enum(name, tagging, &[]));
            return visitor.visit_map(Adjacent {
                tracer,
                fields: [tag, content],
                next: 0,
                variant: 0,
            });
        }
        tracer.touch(|| Session::new_struct(Some(name), fields));
        tracer.fields(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Traced<V::Value> {
        if let Some(node) = self.tag_of {
            if let Some(state) = self.session.enumeration(node)
                && state.variants.is_empty()
                && let Kind::Enum(new) = Session::new_enum(name, Tagging::External, variants)
            {
                state.variants = new.variants;
            }
            self.node = node;
        } else {
            self = self.enter(std::any::type_name::<V>())?;
            self.touch(|| Session::new_enum(name, Tagging::External, variants));
        }
        let index = self.session.choose(self.node, self.minimal, self.depth);
        self.session.last = self.node;
        visitor.visit_enum(Variants { tracer: self, index })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(mut self, visitor: V) -> Traced<V::Value> {
        self.fixed(Shape::Any);
        visitor.visit_unit()
    }
}

struct Items<'s> {
    tracer: Tracer<'s>,
    count: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = TraceError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<Option<S::Value>> {
        if self.count == 0 {
            return Ok(None);
        }
        self.count -= 1;
        let item = seed.deserialize(self.tracer.part(Step::Item))?;
        self.tracer.session.last = self.tracer.node;
        Ok(Some(item))
    }
}

struct Elements<'s> {
    tracer: Tracer<'s>,
    next: usize,
    count: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = TraceError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<Option<S::Value>> {
        if self.next == self.count {
            return Ok(None);
        }
        let item = seed.deserialize(self.tracer.part(Step::Index(self.next)))?;
        self.next += 1;
        self.tracer.session.last = self.tracer.node;
        Ok(Some(item))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count - self.next)
    }
}

struct Entries<'s> {
    tracer: Tracer<'s>,
    count: usize,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = TraceError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<Option<S::Value>> {
        if self.count == 0 {
            return Ok(None);
        }
        self.count -= 1;
        seed.deserialize(self.tracer.part(Step::Key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<S::Value> {
        let value = seed.deserialize(self.tracer.part(Step::Value))?;
        self.tracer.session.last = self.tracer.node;
        Ok(value)
    }
}

/// The fields of a struct.
struct FieldAccess<'s> {
    tracer: Tracer<'s>,
    fields: std::vec::IntoIter<&'static str>,
    field: Option<&'static str>,
}

impl<'de> MapAccess<'de> for FieldAccess<'_> {
    type Error = TraceError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<Option<S::Value>> {
        self.field = self.fields.next();
        self.tracer.session.last = self.tracer.node;
        self.tracer.session.field = self.field;
        let Some(field) = self.field else { return Ok(None) };
        seed.deserialize(StrDeserializer::<TraceError>::new(field)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<S::Value> {
        let field = self.field.unwrap_or_default();
        if field == UNKNOWN {
            return seed.deserialize(().into_deserializer());
        }
        let value = seed.deserialize(self.tracer.part(Step::Field(field)))?;
        self.tracer.session.last = self.tracer.node;
        Ok(value)
    }
}

/// The tag and the content of an adjacently tagged enum.
struct Adjacent<'s> {
    tracer: Tracer<'s>,
    fields: [&'static str; 2],
    next: usize,
    variant: usize,
}

impl<'de> MapAccess<'de> for Adjacent<'_> {
    type Error = TraceError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<Option<S::Value>> {
        self.tracer.session.last = self.tracer.node;
        let Some(field) = self.fields.get(self.next) else { return Ok(None) };
        self.next += 1;
        seed.deserialize(StrDeserializer::<TraceError>::new(field)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Traced<S::Value> {
        let node = self.tracer.node;
        if self.next == 1 {
            let (minimal, depth) = (self.tracer.minimal, self.tracer.depth + 1);
            let session = &mut *self.tracer.session;
            let chosen = session.enums.len();
            let tag =
                seed.deserialize(Tracer { session, node, minimal, depth, tag_of: Some(node) })?;
            let chosen = self.tracer.session.enums.get(chosen).map(|(_, index)| *index);
            self.variant = chosen.unwrap_or_else(|| {
                self.tracer.session.choose(node, self.tracer.minimal, self.tracer.depth + 1)
            });
            return Ok(tag);
        }
        let content = self.tracer.part(Step::Variant(self.variant));
        let child = content.node;
        let value = seed.deserialize(content);
        let session = &mut *self.tracer.session;
        let form = match &session.nodes[child].kind {
            Kind::Fixed(Shape::Null) => Form::Unit,
            Kind::Tuple(_) => Form::Tuple,
            Kind::Struct(state) if state.name.is_none() => Form::Struct,
            _ => Form::Value,
        };
        let index = self.variant;
        if let Some(variant) =
            session.enumeration(node).and_then(|state| state.variants.get_mut(index))
        {
            variant.form = form;
        }
        let value = value?;
        session.last = node;
        Ok(value)
    }
}

/// One variant of an enum.
struct Variants<'s> {
    tracer: Tracer<'s>,
    index: usize,
}

impl<'s, 'de> EnumAccess<'de> for Variants<'s> {
    type Error = TraceError;
    type Variant = VariantContent<'s>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Traced<(S::Value, VariantContent<'s>)> {
        let node = self.tracer.node;
        let unknown = self.tracer.session.plan.unknown_variant == Some(node);
        let name = match self.tracer.session.enumeration(node) {
            _ if unknown => UNKNOWN,
            Some(state) => state.variants.get(self.index).map_or("", |variant| variant.name),
            None => "",
        };
        let value = seed.deserialize(StrDeserializer::<TraceError>::new(name))?;
        Ok((value, VariantContent { tracer: self.tracer, index: self.index }))
    }
}

struct VariantContent<'s> {
    tracer: Tracer<'s>,
    index: usize,
}

impl VariantContent<'_> {
    /// Records the form of the content. That of a tag is recorded with the content itself.
    fn record(&mut self, form: Form) {
        let (node, index) = (self.tracer.node, self.index);
        let unknown = self.tracer.session.plan.unknown_variant == Some(node);
        if let Some(state) = self.tracer.session.enumeration(node)
            && !unknown
            && state.tagging == Tagging::External
            && let Some(variant) = state.variants.get_mut(index)
        {
            variant.form = form;
        }
    }
}

impl<'de> VariantAccess<'de> for VariantContent<'_> {
    type Error = TraceError;

    fn unit_variant(mut self) -> Traced<()> {
        self.record(Form::Unit);
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Traced<S::Value> {
        self.record(Form::Value);
        seed.deserialize(self.tracer.part(Step::Variant(self.index)))
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Traced<V::Value> {
        self.record(Form::Tuple);
        self.tracer.part(Step::Variant(self.index)).deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Traced<V::Value> {
        self.record(Form::Struct);
        let mut content = self.tracer.part(Step::Variant(self.index));
        content.touch(|| Session::new_struct(None, fields));
        content.fields(visitor)
    }
}
