//! numpy's `.npy` format: a header with a Python dictionary literal, then the elements.

use std::io::Write;

use crate::tensor::{AlignedBuffer, DType, Tensor, element_count};

use super::IoError;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The format aligns the start of the elements to this many bytes.
const HEADER_ALIGN: usize = 64;

/// Parses a `.npy` image; `place` names it in errors.
pub fn parse(place: &str, bytes: &[u8]) -> Result<Tensor, IoError> {
    let (header, data) = split_header(bytes).map_err(|message| IoError::format(place, message))?;
    let header = Header::parse(header).map_err(|message| IoError::format(place, message))?;
    let tensor_error = |error| IoError::tensor(place, error);
    let count = element_count(header.dtype, &header.shape).map_err(tensor_error)?;
    let wanted = count * header.dtype.size();
    if data.len() != wanted {
        let message = format!(
            "{} elements of shape {:?} need {wanted} bytes after the header, but {} follow it",
            header.dtype,
            header.shape,
            data.len()
        );
        return Err(IoError::format(place, message));
    }
    let mut buffer = AlignedBuffer::copy_of(data).map_err(tensor_error)?;
    if header.swap_bytes {
        let size = header.dtype.size();
        buffer.as_mut_slice().chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    if header.fortran_order && header.shape.len() > 1 {
        buffer = transpose(&header, buffer.as_ref()).map_err(tensor_error)?;
    }
    Tensor::from_buffer(header.dtype, &header.shape, buffer).map_err(tensor_error)
}

/// Writes `tensor` as a version 1.0 `.npy` image.
pub fn write(tensor: &Tensor, out: &mut impl Write) -> std::io::Result<()> {
    let shape: Vec<String> = tensor.shape().iter().map(|dim| format!("{dim},")).collect();
    // numpy writes `(2, 3)`, and `(2,)` for rank 1.
    let mut shape = shape.join(" ");
    if tensor.shape().len() > 1 {
        shape.pop();
    }
    let dictionary = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}",
        descr(tensor.dtype())
    );
    let fixed = MAGIC.len() + 2 + 2;
    let padded = (fixed + dictionary.len() + 1).next_multiple_of(HEADER_ALIGN) - fixed;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    // Ranks are small: a header never reaches the 64 KiB that version 1.0 can express.
    out.write_all(&u16::try_from(padded).map_err(std::io::Error::other)?.to_le_bytes())?;
    writeln!(out, "{dictionary:<width$}", width = padded - 1)?;
    out.write_all(tensor.bytes())
}

/// The `descr` of an element type. numpy has no bfloat16; the `ml_dtypes` package, which gives it
/// one, stores it as two opaque bytes.
fn descr(dtype: DType) -> String {
    let order = match (dtype.size(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    let kind = match dtype {
        DType::Bool => 'b',
        DType::BF16 => 'V',
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 'i',
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 'u',
        DType::F16 | DType::F32 | DType::F64 => 'f',
    };
    format!("{order}{kind}{}", dtype.size())
}

/// Splits an image into dictionary text and elements.
fn split_header(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("not a .npy file: it does not start with the bytes \\x93NUMPY".to_string());
    };
    let truncated = || "truncated .npy header".to_string();
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or_else(truncated)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(truncated)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(truncated)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        _ => {
            return Err(format!(".npy version {major} is not supported, expected 1, 2 or 3"));
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(truncated)?;
    let header = std::str::from_utf8(header).map_err(|_| "the .npy header is not text")?;
    Ok((header, data))
}

#[derive(Debug, PartialEq)]
struct Header {
    dtype: DType,
    swap_bytes: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        let mut scanner = Scanner { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        scanner.expect('{')?;
        while !scanner.accept('}') {
            let key = scanner.string()?;
            scanner.expect(':')?;
            match key {
                "descr" => descr = Some(scanner.string()?),
                "fortran_order" => fortran_order = Some(scanner.boolean()?),
                "shape" => shape = Some(scanner.tuple()?),
                other => return Err(format!("unknown key '{other}' in the .npy header")),
            }
            if !scanner.accept(',') {
                scanner.expect('}')?;
                break;
            }
        }
        let missing = |key| format!("the .npy header has no '{key}'");
        let (dtype, swap_bytes) = parse_descr(descr.ok_or_else(|| missing("descr"))?)?;
        Ok(Self {
            dtype,
            swap_bytes,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// Element type of a `descr`, and whether its bytes are in the other order than this machine's.
fn parse_descr(descr: &str) -> Result<(DType, bool), String> {
    let (order, name) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '=' | '|')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let dtype = match name {
        "b1" | "?" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "V2" | "bfloat16" => DType::BF16,
        _ => {
            let supported: Vec<_> = DType::all().map(DType::numpy_name).collect();
            return Err(format!(
                "element type '{descr}' is not supported, expected one of {}",
                supported.join(", ")
            ));
        }
    };
    let other = if cfg!(target_endian = "little") { '>' } else { '<' };
    Ok((dtype, order == other))
}

/// Reads the small part of Python's literal syntax that headers use.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, wanted: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(12).collect();
        format!("malformed .npy header: expected {wanted}, found '{found}'")
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) { Ok(()) } else { Err(self.unexpected(&format!("'{wanted}'"))) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.skip_space();
        if self.rest.starts_with('[') {
            return Err("structured element types are not supported".to_string());
        }
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some(quote) = quote else {
            return Err(self.unexpected("a string"));
        };
        let body = &self.rest[1..];
        let Some(end) = body.find(quote) else {
            return Err(self.unexpected("a string"));
        };
        self.rest = &body[end + 1..];
        Ok(&body[..end])
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, String> {
        self.expect('(')?;
        let mut items = Vec::new();
        while !self.accept(')') {
            self.skip_space();
            let digits = self.rest.len() - self.rest.trim_start_matches(char::is_numeric).len();
            let number = self.rest[..digits].parse::<usize>();
            items.push(number.map_err(|_| self.unexpected("a dimension"))?);
            // Python 2 wrote long integers with a suffix.
            self.rest = self.rest[digits..].trim_start_matches('L');
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(items)
    }
}

/// Turns column-major elements into row-major ones.
fn transpose(header: &Header, data: &[u8]) -> Result<AlignedBuffer, crate::tensor::TensorError> {
    let size = header.dtype.size();
    let mut strides = vec![size; header.shape.len()];
    for axis in 1..strides.len() {
        strides[axis] = strides[axis - 1] * header.shape[axis - 1];
    }
    let mut buffer = AlignedBuffer::zeroed(data.len())?;
    let mut index = vec![0; header.shape.len()];
    let mut from = 0;
    for to in buffer.as_mut_slice().chunks_exact_mut(size) {
        to.copy_from_slice(&data[from..from + size]);
        // Count up like an odometer, last axis fastest, keeping the source offset in step.
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < header.shape[axis] {
                break;
            }
            from -= strides[axis] * header.shape[axis];
            index[axis] = 0;
        }
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn error(bytes: &[u8]) -> String {
        parse("x.npy", bytes).unwrap_err().to_string()
    }

    #[test]
    fn every_type_and_rank_round_trips() {
        for dtype in DType::all() {
            for shape in [&[][..], &[3], &[0], &[2, 3], &[2, 0, 3], &[1, 2, 3, 4]] {
                let tensor = Tensor::random(dtype, shape, 3).unwrap();
                let mut bytes = Vec::new();
                write(&tensor, &mut bytes).unwrap();
                assert_eq!((bytes.len() - tensor.bytes().len()) % 64, 0);
                assert_eq!(parse("x.npy", &bytes).unwrap(), tensor);
            }
        }
    }

    #[test]
    fn fortran_order_and_byte_order() {
        let data: Vec<u8> = [1i16, 4, 2, 5, 3, 6].iter().flat_map(|v| v.to_be_bytes()).collect();
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2L, 3L), }\n";
        let tensor = parse("x.npy", &image(header, &data)).unwrap();
        assert_eq!(tensor, Tensor::from_slice(&[2, 3], &[1i16, 2, 3, 4, 5, 6]).unwrap());
    }

    #[test]
    fn header_as_numpy_writes_it() {
        let mut bytes = Vec::new();
        write(&Tensor::from_slice(&[2], &[1i64, 2]).unwrap(), &mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes[10..60]).into_owned();
        assert_eq!(&text[..], "{'descr': '<i8', 'fortran_order': False, 'shape': ");
        assert_eq!(&bytes[60..66], b"(2,), ");
        assert_eq!(bytes[127], b'\n');
    }

    #[test]
    fn damage_is_reported() {
        assert!(error(b"").contains("not a .npy file"));
        assert!(error(b"\x93NUMPY\x01").contains("truncated"));
        assert!(error(b"\x93NUMPY\x09\x00").contains("version 9"));
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        assert!(error(&image(good, &[0; 7])).contains("need 8 bytes"));
        let object = good.replace("<f4", "|O");
        assert!(error(&image(&object, &[])).contains("'|O' is not supported"));
        let huge = good.replace("2,", "99999999999999,99999999999999");
        assert!(error(&image(&huge, &[])).contains("too large"));
        assert!(error(&image("{'descr': [('a', '<f4')]}", &[])).contains("structured"));
        assert!(error(&image("{'descr': '<f4'}", &[])).contains("fortran_order"));
        for cut in 0..good.len() {
            assert!(parse("x.npy", &image(&good[..cut], &[0; 8])).is_err());
        }
    }
}
