//! `board.toml`: the pools of memory that a board has.
//!
//! ```toml
//! [[pool]]
//! name = "SRAM"
//! bytes = 262_144
//! alignment = 32               # 64 unless more is said
//! speed = 4                    # relative, or bytes a second; without it the order counts
//! users = ["host", "npu"]      # ids of targets; without it all
//! holds = ["activations"]      # "constants", "inputs", "outputs"; without it the first two
//! ```

use crate::{
    Error, Result,
    artifact::c_identifier,
    error::suggestion_only,
    io,
    ir::{
        board::{Content, Pool},
        size::ALIGNMENT,
    },
    limits::MAX_BYTES,
    planned::users::HOST,
};
use serde::Deserialize;
use std::{ops::Range, path::Path};
use toml::Spanned;

/// In `users`: every target.
const ALL: &str = "all";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBoard {
    #[serde(default)]
    pool: Vec<RawPool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPool {
    name: Spanned<String>,
    bytes: Spanned<i64>,
    alignment: Option<Spanned<i64>>,
    speed: Option<Spanned<toml::Value>>,
    users: Option<Vec<Spanned<String>>>,
    holds: Option<Spanned<Vec<Spanned<String>>>>,
}

/// The text of a board, for places in messages.
struct Text<'t> {
    name: &'t str,
    text: &'t str,
}

impl Text<'_> {
    fn fault(&self, span: &Range<usize>, message: impl std::fmt::Display) -> Error {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count();
        let shown = self.text.lines().nth(line).unwrap_or_default().trim_end();
        Error::invalid(format!("{}:{}: {message}\n  {shown}", self.name, line + 1))
    }
}

/// Reads a board for targets of these ids, the host last. The pools are in order, the fastest first.
pub fn read(path: &Path, targets: &[String]) -> Result<Vec<Pool>> {
    let text = io::read_text(path).map_err(|e| Error::io("cannot read", path, e))?;
    parse(&text, &path.to_string_lossy(), targets)
}

/// As [`read`]; `name` stands for the file in messages.
pub fn parse(text: &str, name: &str, targets: &[String]) -> Result<Vec<Pool>> {
    let source = Text { name, text };
    let raw: RawBoard = toml::from_str(text).map_err(|error| {
        source.fault(&error.span().unwrap_or(0..0), error.message().replace('\n', "; "))
    })?;
    if raw.pool.is_empty() {
        return Err(source.fault(&(0..0), "a board has at least one [[pool]]"));
    }
    let mut pools: Vec<(Pool, Option<f64>)> = vec![];
    for entry in &raw.pool {
        let (pool, speed) = entry.pool(&source, targets)?;
        let same = |(known, _): &&(Pool, _)| known.name.eq_ignore_ascii_case(&pool.name);
        if let Some((known, _)) = pools.iter().find(same) {
            let message =
                format!("there is a pool '{}' already; names differ in more than case", known.name);
            return Err(source.fault(&entry.name.span(), message));
        }
        if let Some((_, first)) = pools.first()
            && first.is_some() != speed.is_some()
        {
            let message = "all pools have a speed, or none, which leaves them in order";
            return Err(source.fault(&entry.name.span(), message));
        }
        pools.push((pool, speed));
    }
    let speed = |pool: &(Pool, Option<f64>)| pool.1.unwrap_or_default();
    // Equally fast ones stay in order.
    pools.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    Ok(pools.into_iter().map(|(pool, _)| pool).collect())
}

impl RawPool {
    fn pool(&self, source: &Text<'_>, targets: &[String]) -> Result<(Pool, Option<f64>)> {
        let name = self.name.get_ref();
        if name.is_empty() || c_identifier(name) != *name {
            let message = format!("'{name}' becomes part of names in C: letters, digits and _");
            return Err(source.fault(&self.name.span(), message));
        }
        let bytes = u64::try_from(*self.bytes.get_ref()).ok();
        let bytes = bytes.filter(|bytes| (1..=MAX_BYTES).contains(bytes)).ok_or_else(|| {
            source.fault(&self.bytes.span(), format!("bytes is a number from 1 to {MAX_BYTES}"))
        })?;
        let pool = Pool {
            name: name.clone(),
            bytes,
            alignment: self.alignment(source)?,
            users: self.users(source, targets)?,
            holds: self.holds(source)?,
        };
        Ok((pool, self.speed(source)?))
    }

    fn alignment(&self, source: &Text<'_>) -> Result<u64> {
        const MOST: u64 = 1 << 20;
        let Some(given) = &self.alignment else { return Ok(ALIGNMENT as u64) };
        let alignment = u64::try_from(*given.get_ref()).unwrap_or(0);
        if !alignment.is_power_of_two() || alignment > MOST {
            let message = format!("alignment is a power of two up to {MOST}");
            return Err(source.fault(&given.span(), message));
        }
        Ok(alignment.max(ALIGNMENT as u64))
    }

    fn speed(&self, source: &Text<'_>) -> Result<Option<f64>> {
        let Some(given) = &self.speed else { return Ok(None) };
        let number = match given.get_ref() {
            toml::Value::Integer(number) => Some(*number as f64),
            toml::Value::Float(number) => Some(*number),
            _ => None,
        };
        let number = number.filter(|number| *number > 0.0 && number.is_finite());
        let fault =
            || source.fault(&given.span(), "speed is a number above 0, the largest the fastest");
        number.map(Some).ok_or_else(fault)
    }

    /// Ids, the host's as `host`; empty for all.
    fn users(&self, source: &Text<'_>, targets: &[String]) -> Result<Vec<String>> {
        let mut users: Vec<String> = vec![];
        let given = self.users.as_deref();
        let Some(given) = given else { return Ok(users) };
        for user in given {
            let id = match user.get_ref().as_str() {
                ALL => return Ok(vec![]),
                id if targets.last().is_some_and(|host| host == id) => HOST,
                id => id,
            };
            if id != HOST && !targets.iter().any(|target| target == id) {
                let near = suggestion_only(id, targets.iter().map(String::as_str));
                let message = format!(
                    "users: '{id}' is no target of this compile{near}; they are {HOST}, {}",
                    targets.join(", ")
                );
                return Err(source.fault(&user.span(), message));
            }
            users.push(id.to_owned());
        }
        if users.is_empty() {
            let message = "users is empty, so that nobody reaches the pool; leave it out for all";
            return Err(source.fault(&self.name.span(), message));
        }
        Ok(users)
    }

    fn holds(&self, source: &Text<'_>) -> Result<Vec<Content>> {
        let Some(given) = &self.holds else {
            return Ok(vec![Content::Activations, Content::Constants]);
        };
        let mut holds = vec![];
        for name in given.get_ref() {
            let content = Content::from_name(name.get_ref()).ok_or_else(|| {
                let names =
                    Content::ALL.map(|content| format!("\"{}\"", content.name())).join(", ");
                let message =
                    format!("'{}' is nothing that a pool holds; it holds {names}", name.get_ref());
                source.fault(&name.span(), message)
            })?;
            holds.push(content);
        }
        if holds.is_empty() {
            return Err(source.fault(&given.span(), "holds is empty, so the pool has no use"));
        }
        holds.sort_unstable();
        holds.dedup();
        Ok(holds)
    }
}
