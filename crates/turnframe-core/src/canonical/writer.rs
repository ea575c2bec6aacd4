//! The short way to canonical JSON: written while a value is serialised, with no tree in between.
//!
//! Objects are written as they come and put in order of their keys at their end, where they are not in order already. In
//! a payload that is sealed, personal values leave the text on the way. What RFC 8785 has a rule of its own for (a
//! fraction, an integer that a double does not hold, a key outside ASCII) and what is not worth a rule here (a repeated
//! key, parts that would be numbered out of order) is [`Detour::Slow`]: the caller takes the long way over a tree, which
//! also words every error. A property test holds the two ways against each other.

use std::fmt;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde::ser::{
    Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// How `serde_json` marks text that is JSON already.
const RAW: &str = "$serde_json::private::RawValue";
/// Beyond this, RFC 8785 writes a number as the nearest double.
pub(super) const EXACT_MAX: u64 = (1 << 53) - 1;

/// Why the short way ends.
#[derive(Debug)]
pub(crate) enum Detour {
    /// The long way knows what to write, or what is wrong.
    Slow,
    /// A key of a payload starts with `$`.
    Reserved(String),
    /// Text of a payload contains NUL.
    Nul,
}

impl fmt::Display for Detour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not written the short way")
    }
}

impl std::error::Error for Detour {}

impl serde::ser::Error for Detour {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::Slow
    }
}

/// A personal value that left the text: its subject and its value, both canonical JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extracted {
    pub(crate) subject: Vec<u8>,
    pub(crate) value: Option<Vec<u8>>,
}

/// What is written, and what left it.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: Vec<u8>,
    extracted: Vec<Extracted>,
    /// The key of personal values, where they leave the text.
    marker: Option<&'static str>,
    /// How deep in personal values this is: what is in there stays there.
    within: u32,
    scratch: Vec<u8>,
}

impl Writer {
    /// The canonical text of a value.
    pub(crate) fn text_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Detour> {
        let mut writer = Self::default();
        value.serialize(&mut writer)?;
        Ok(writer.text)
    }

    /// The canonical text of a payload without its personal values, and those.
    pub(crate) fn extract<T: Serialize + ?Sized>(
        value: &T,
        marker: &'static str,
    ) -> Result<(Vec<u8>, Vec<Extracted>), Detour> {
        let mut writer = Self { marker: Some(marker), ..Self::default() };
        value.serialize(&mut writer)?;
        Ok((writer.text, writer.extracted))
    }

    fn string(&mut self, text: &str) -> Result<(), Detour> {
        if self.marker.is_some() && text.as_bytes().contains(&0) {
            return Err(Detour::Nul);
        }
        serde_json::to_writer(&mut self.text, text).map_err(|_| Detour::Slow)
    }

    fn unsigned(&mut self, number: u64) -> Result<(), Detour> {
        if number > EXACT_MAX {
            return Err(Detour::Slow);
        }
        serde_json::to_writer(&mut self.text, &number).map_err(|_| Detour::Slow)
    }

    fn signed(&mut self, number: i64) -> Result<(), Detour> {
        if number.unsigned_abs() > EXACT_MAX {
            return Err(Detour::Slow);
        }
        serde_json::to_writer(&mut self.text, &number).map_err(|_| Detour::Slow)
    }

    fn begin_object(&mut self) -> Object<'_> {
        self.text.push(b'{');
        Object { entries: Vec::new(), key: None, writer: self }
    }

    fn begin_list(&mut self) -> List<'_> {
        self.text.push(b'[');
        List { is_empty: true, closing: b"]", writer: self }
    }

    /// Opens `{"variant":`; whoever closes it adds the brace.
    fn begin_variant(&mut self, variant: &str) -> Result<(), Detour> {
        if !variant.is_ascii() || (self.marker.is_some() && variant.starts_with('$')) {
            return Err(Detour::Slow);
        }
        self.text.push(b'{');
        self.string(variant)?;
        self.text.push(b':');
        Ok(())
    }
}

/// An object that is being written.
pub(crate) struct Object<'w> {
    writer: &'w mut Writer,
    entries: Vec<Entry>,
    key: Option<Entry>,
}

/// Where an entry of an object stands, without the comma before it.
struct Entry {
    key: Range<usize>,
    end: usize,
    /// Personal values that had left the text before it, and by its end.
    parts: Range<usize>,
}

impl Object<'_> {
    fn begin(&mut self, key: &str) -> Result<(), Detour> {
        // Keys are compared as they are written, which is in their order only where nothing is escaped.
        let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
        if !key.bytes().all(is_plain) {
            return Err(Detour::Slow);
        }
        let is_payload = self.writer.marker.is_some() && self.writer.within == 0;
        if is_payload && key.starts_with('$') && self.writer.marker != Some(key) {
            return Err(Detour::Reserved(key.to_owned()));
        }
        if !self.entries.is_empty() {
            self.writer.text.push(b',');
        }
        let start = self.writer.text.len();
        self.writer.string(key)?;
        let parts = self.writer.extracted.len();
        self.key = Some(Entry { key: start..self.writer.text.len(), end: 0, parts: parts..parts });
        self.writer.text.push(b':');
        Ok(())
    }

    fn finish<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Detour> {
        let mut entry = self.key.take().ok_or(Detour::Slow)?;
        let key = &self.writer.text[entry.key.start + 1..entry.key.end - 1];
        let is_personal = self.writer.within == 0
            && self.writer.marker.is_some_and(|marker| marker.as_bytes() == key);
        if is_personal {
            self.personal(value)?;
        } else {
            value.serialize(&mut *self.writer)?;
        }
        entry.end = self.writer.text.len();
        entry.parts.end = self.writer.extracted.len();
        self.entries.push(entry);
        Ok(())
    }

    /// Takes a personal value out of the text, and leaves its number.
    fn personal<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Detour> {
        let start = self.writer.text.len();
        self.writer.within += 1;
        value.serialize(&mut *self.writer)?;
        self.writer.within -= 1;
        let extracted = inner(&self.writer.text[start..]).ok_or(Detour::Slow)?;
        self.writer.text.truncate(start);
        self.writer.unsigned(self.writer.extracted.len() as u64)?;
        self.writer.extracted.push(extracted);
        Ok(())
    }

    fn close(self) -> Result<(), Detour> {
        let Self { writer, mut entries, .. } = self;
        let text = &writer.text;
        let key = |entry: &Entry| &text[entry.key.start + 1..entry.key.end - 1];
        if let (Some(marker), 0) = (writer.marker, writer.within)
            && entries.len() > 1
            && entries.iter().any(|entry| key(entry) == marker.as_bytes())
        {
            return Err(Detour::Reserved(marker.to_owned()));
        }
        if !entries.is_sorted_by(|one, other| key(one) < key(other)) {
            let first = entries.first().map_or(0, |entry| entry.key.start);
            entries.sort_by(|one, other| key(one).cmp(key(other)));
            let repeats = entries.windows(2).any(|pair| key(&pair[0]) == key(&pair[1]));
            let parts = entries.iter().filter(|entry| !entry.parts.is_empty());
            if repeats || !parts.map(|entry| entry.parts.start).is_sorted() {
                return Err(Detour::Slow);
            }
            let mut scratch = std::mem::take(&mut writer.scratch);
            scratch.clear();
            for entry in &entries {
                if !scratch.is_empty() {
                    scratch.push(b',');
                }
                scratch.extend_from_slice(&text[entry.key.start..entry.end]);
            }
            writer.text.truncate(first);
            writer.text.extend_from_slice(&scratch);
            writer.scratch = scratch;
        }
        writer.text.push(b'}');
        Ok(())
    }
}

/// The subject and the value of a personal value that was written: `{"subject":…,"value":…}`, in this order.
fn inner(text: &[u8]) -> Option<Extracted> {
    let rest = text.strip_prefix(b"{\"subject\":\"")?.strip_suffix(b"}")?;
    // A subject is a name without quotes or escapes; anything else goes the long way.
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let (subject, rest) = (&rest[..end], &rest[end + 1..]);
    if subject.contains(&b'\\') {
        return None;
    }
    let value = match rest.strip_prefix(b",\"value\":") {
        // What is no value reads as erased, which the long way seals without a commitment.
        Some(b"null") => return None,
        // More fields than these two are not ours.
        Some(value) if serde_json::from_slice::<IgnoredAny>(value).is_err() => return None,
        Some(value) => Some(value.to_vec()),
        None if rest.is_empty() => None,
        None => return None,
    };
    Some(Extracted { subject: subject.to_vec(), value })
}

/// A list that is being written.
pub(crate) struct List<'w> {
    writer: &'w mut Writer,
    is_empty: bool,
    closing: &'static [u8],
}

impl List<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Detour> {
        if !self.is_empty {
            self.writer.text.push(b',');
        }
        self.is_empty = false;
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Result<(), Detour> {
        self.writer.text.extend_from_slice(self.closing);
        Ok(())
    }
}

/// A struct: an object, or text that is JSON already.
pub(crate) enum Fields<'w> {
    Object(Object<'w>),
    Raw(&'w mut Writer),
}

/// The fields of a variant, within its own object.
pub(crate) struct Variant<'w>(Object<'w>);

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Detour;
    type SerializeSeq = List<'w>;
    type SerializeTuple = List<'w>;
    type SerializeTupleStruct = List<'w>;
    type SerializeTupleVariant = List<'w>;
    type SerializeMap = Object<'w>;
    type SerializeStruct = Fields<'w>;
    type SerializeStructVariant = Variant<'w>;

    fn serialize_bool(self, value: bool) -> Result<(), Detour> {
        self.text.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Detour> {
        self.signed(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Detour> {
        self.signed(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Detour> {
        self.signed(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Detour> {
        self.signed(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Detour> {
        self.unsigned(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Detour> {
        self.unsigned(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Detour> {
        self.unsigned(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Detour> {
        self.unsigned(value)
    }

    fn serialize_f32(self, _value: f32) -> Result<(), Detour> {
        Err(Detour::Slow)
    }

    fn serialize_f64(self, _value: f64) -> Result<(), Detour> {
        Err(Detour::Slow)
    }

    fn serialize_char(self, value: char) -> Result<(), Detour> {
        self.string(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Detour> {
        self.string(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Detour> {
        let mut list = self.begin_list();
        value.iter().try_for_each(|byte| list.item(byte))?;
        list.close()
    }

    fn serialize_none(self) -> Result<(), Detour> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Detour> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Detour> {
        self.text.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Detour> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Detour> {
        self.string(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Detour> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Detour> {
        self.begin_variant(variant)?;
        value.serialize(&mut *self)?;
        self.text.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<List<'w>, Detour> {
        Ok(self.begin_list())
    }

    fn serialize_tuple(self, _len: usize) -> Result<List<'w>, Detour> {
        Ok(self.begin_list())
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<List<'w>, Detour> {
        Ok(self.begin_list())
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<List<'w>, Detour> {
        self.begin_variant(variant)?;
        Ok(List { closing: b"]}", ..self.begin_list() })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Object<'w>, Detour> {
        Ok(self.begin_object())
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Fields<'w>, Detour> {
        if name == RAW { Ok(Fields::Raw(self)) } else { Ok(Fields::Object(self.begin_object())) }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Variant<'w>, Detour> {
        self.begin_variant(variant)?;
        Ok(Variant(self.begin_object()))
    }
}

macro_rules! lists {
    ($($port:ident :: $item:ident),+) => {
        $(impl $port for List<'_> {
            type Ok = ();
            type Error = Detour;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Detour> {
                self.item(value)
            }

            fn end(self) -> Result<(), Detour> {
                self.close()
            }
        })+
    };
}

lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl SerializeMap for Object<'_> {
    type Ok = ();
    type Error = Detour;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Detour> {
        key.serialize(Key(self))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Detour> {
        self.finish(value)
    }

    fn end(self) -> Result<(), Detour> {
        self.close()
    }
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Detour;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Detour> {
        match self {
            Self::Object(object) => {
                object.begin(key)?;
                object.finish(value)
            }
            Self::Raw(writer) => {
                // Its keys may be in any order, and personal values may be in it.
                let text = value.serialize(RawText)?;
                let value: Value = serde_json::from_str(&text).map_err(|_| Detour::Slow)?;
                value.serialize(&mut **writer)
            }
        }
    }

    fn end(self) -> Result<(), Detour> {
        match self {
            Self::Object(object) => object.close(),
            Self::Raw(_) => Ok(()),
        }
    }
}

impl SerializeStructVariant for Variant<'_> {
    type Ok = ();
    type Error = Detour;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Detour> {
        self.0.begin(key)?;
        self.0.finish(value)
    }

    fn end(self) -> Result<(), Detour> {
        let Self(Object { writer, entries, key }) = self;
        let object = Object { writer: &mut *writer, entries, key };
        object.close()?;
        writer.text.push(b'}');
        Ok(())
    }
}

/// Refuses everything but text.
macro_rules! only_text {
    ($ok:ty) => {
        type Ok = $ok;
        type Error = Detour;
        type SerializeSeq = Impossible<$ok, Detour>;
        type SerializeTuple = Impossible<$ok, Detour>;
        type SerializeTupleStruct = Impossible<$ok, Detour>;
        type SerializeTupleVariant = Impossible<$ok, Detour>;
        type SerializeMap = Impossible<$ok, Detour>;
        type SerializeStruct = Impossible<$ok, Detour>;
        type SerializeStructVariant = Impossible<$ok, Detour>;

        only_text!(@refused $ok;
            serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32),
            serialize_i64(i64), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32),
            serialize_u64(u64), serialize_f32(f32), serialize_f64(f64), serialize_char(char),
            serialize_bytes(&[u8]), serialize_unit_struct(&'static str)
        );

        fn serialize_none(self) -> Result<$ok, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<$ok, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_unit(self) -> Result<$ok, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            value: &T,
        ) -> Result<$ok, Detour> {
            value.serialize(self)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<$ok, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_tuple_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleStruct, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_tuple_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleVariant, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStruct, Detour> {
            Err(Detour::Slow)
        }

        fn serialize_struct_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStructVariant, Detour> {
            Err(Detour::Slow)
        }
    };
    (@refused $ok:ty; $($method:ident($type:ty)),+) => {
        $(fn $method(self, _value: $type) -> Result<$ok, Detour> {
            Err(Detour::Slow)
        })+
    };
}

/// The key of a map: text, or a name of a variant. Other keys are worded by the long way.
struct Key<'o, 'w>(&'o mut Object<'w>);

impl Serializer for Key<'_, '_> {
    only_text!(());

    fn serialize_str(self, key: &str) -> Result<(), Detour> {
        self.0.begin(key)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Detour> {
        self.0.begin(variant)
    }
}

/// The text inside of what is JSON already.
struct RawText;

impl Serializer for RawText {
    only_text!(String);

    fn serialize_str(self, text: &str) -> Result<String, Detour> {
        Ok(text.to_owned())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<String, Detour> {
        Err(Detour::Slow)
    }
}
