//! Rows as Parquet: a column of the sweep is a column of the file, each value optional, compressed with zstd. The metadata of
//! the file has the columns with their units under the key `doorway.columns`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use doorway_core::Refusal;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::{Field, reader::RowIter};
use parquet::schema::types::{Type, TypePtr};

use super::appended::Shape;
use super::columns::{Column, ColumnKind, Value};
use super::files::cannot;
use super::table::{Rows, Sink};

/// Rows that are compressed together.
const GROUP: usize = 1 << 14;

/// Writes rows, a group at a time.
pub(super) struct Writer {
    file: SerializedFileWriter<File>,
    columns: Vec<Column>,
    waiting: Vec<Vec<Value>>,
}

impl Writer {
    pub(super) fn new(file: File, columns: &[Column]) -> io::Result<Self> {
        let units = KeyValue::new("doorway.columns".to_owned(), serde_json::to_string(columns)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(vec![units]));
        let file = SerializedFileWriter::new(file, schema(columns)?, Arc::new(properties.build()))?;
        Ok(Self { file, columns: columns.to_vec(), waiting: Vec::new() })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.waiting);
        let mut group = self.file.next_row_group()?;
        for (place, column) in self.columns.iter().enumerate() {
            write_column(&mut group, column.kind, rows.iter().map(|row| &row[place]))?;
        }
        group.close().map(drop)
    }
}

impl Sink for Writer {
    fn push(&mut self, row: Vec<Value>) -> io::Result<()> {
        self.waiting.push(row);
        if self.waiting.len() == GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        self.file.finish()?;
        self.file.inner().sync_all()
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let (physical, converted) = match column.kind {
            ColumnKind::Integer => (Physical::INT64, ConvertedType::UINT_64),
            ColumnKind::Number => (Physical::DOUBLE, ConvertedType::NONE),
            ColumnKind::Boolean => (Physical::BOOLEAN, ConvertedType::NONE),
            ColumnKind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let field = Type::primitive_type_builder(&column.name, physical);
        field.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("runs").with_fields(fields).build().map(Arc::new)
}

fn write_column<'a>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    kind: ColumnKind,
    values: impl Iterator<Item = &'a Value> + Clone,
) -> Result<(), ParquetError> {
    match kind {
        ColumnKind::Integer => write_typed::<Int64Type>(group, values, |value| match value {
            Value::Integer(number) => Some(number.cast_signed()),
            _ => None,
        }),
        ColumnKind::Number => write_typed::<DoubleType>(group, values, |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        }),
        ColumnKind::Boolean => write_typed::<BoolType>(group, values, |value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }),
        ColumnKind::Text => write_typed::<ByteArrayType>(group, values, |value| match value {
            Value::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
    }
}

/// Writes the values that are there, and for each row whether it has one.
fn write_typed<'a, T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = &'a Value> + Clone,
    read: fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let present: Vec<T::T> = values.clone().filter_map(read).collect();
    let levels: Vec<i16> = values.map(|value| i16::from(*value != Value::Missing)).collect();
    let no_column = || ParquetError::General("there are more columns than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(no_column)?;
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

/// Reads the rows of a file.
///
/// # Errors
/// If it cannot be read, or has a row that does not belong there.
pub(super) fn rows<'a>(path: &Path, shape: Shape<'a>) -> Result<Rows<'a>, Refusal> {
    let (path, columns) = (path.to_owned(), shape.columns);
    let file = File::open(&path).map_err(|error| cannot("read", &path, &error))?;
    let refuse = move |error: ParquetError| cannot("read", &path, &io::Error::other(error));
    let reader = SerializedFileReader::new(file).map_err(&refuse)?;
    let mut rows = RowIter::from_file_into(Box::new(reader));
    let mut before = 0;
    Ok(Box::new(move || {
        let Some(row) = rows.next() else { return Ok(None) };
        let row = row.map_err(&refuse)?;
        let same = row.len() == columns.len();
        let fields = columns.iter().zip(row.get_column_iter());
        let values =
            fields.map(|(column, (name, field))| value(column, name, field)).collect::<Option<Vec<_>>>();
        let foreign = || refuse(ParquetError::General("it has other columns than the manifest".to_owned()));
        let values = values.filter(|_| same).ok_or_else(foreign)?;
        let told = |sentence| refuse(ParquetError::General(format!("row {}: {sentence}", before + 1)));
        shape.check(before, &values).map_err(told)?;
        before += 1;
        Ok(Some(values))
    }))
}

fn value(column: &Column, name: &str, field: &Field) -> Option<Value> {
    match (column.kind, field) {
        _ if column.name != name => None,
        (_, Field::Null) => Some(Value::Missing),
        (ColumnKind::Integer, Field::ULong(number)) => Some(Value::Integer(*number)),
        (ColumnKind::Number, Field::Double(number)) => Some(Value::Number(*number)),
        (ColumnKind::Boolean, Field::Bool(value)) => Some(Value::Boolean(*value)),
        (ColumnKind::Text, Field::Str(text)) => Some(Value::Text(text.clone())),
        _ => None,
    }
}
