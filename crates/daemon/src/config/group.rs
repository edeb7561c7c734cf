//! A group of users, as people write it: by its name or its number.

use std::fmt;
use std::fs;

use doorway_core::Refusal;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A group of users of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum UserGroup {
    /// By its number.
    Number(u32),
    /// By its name.
    Name(String),
}

/// The list of groups of a machine.
const GROUPS: &str = "/etc/group";

/// The number that system calls take for "leave it as it is".
const NONE: u64 = u32::MAX as u64;

impl UserGroup {
    /// Its number on this machine.
    ///
    /// # Errors
    /// If the machine has no group of that name.
    pub(crate) fn number(&self) -> Result<u32, Refusal> {
        let name = match self {
            UserGroup::Number(number) => return Ok(*number),
            UserGroup::Name(name) => name,
        };
        let list = fs::read_to_string(GROUPS)
            .map_err(|error| Refusal::new(format!("{GROUPS} cannot be read: {error}")))?;
        find(&list, name).ok_or_else(|| {
            Refusal::new(format!(
                "{GROUPS} has no group {name:?}: make it with `groupadd {name}`, or write its number"
            ))
        })
    }
}

/// The number of a group in a list whose lines are `name:password:number:members`.
fn find(list: &str, name: &str) -> Option<u32> {
    let mut groups = list.lines().map(|line| line.split(':'));
    groups.find_map(|mut fields| (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?)
}

impl<'de> Deserialize<'de> for UserGroup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads a group from a configuration.
struct Written;

impl Visitor<'_> for Written {
    type Value = UserGroup;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a group by its name in quotes or its number")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<UserGroup, E> {
        match name {
            "" => Err(E::custom("a group has a name: leave the key out for the daemon's own group")),
            name => Ok(UserGroup::Name(name.to_owned())),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<UserGroup, E> {
        self.visit_u64(u64::try_from(number).unwrap_or(NONE))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<UserGroup, E> {
        let number = u32::try_from(number).ok().filter(|number| u64::from(*number) < NONE);
        number
            .map(UserGroup::Number)
            .ok_or_else(|| E::custom(format!("a group's number is from 0 to {}", NONE - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_by_its_whole_name() {
        let list = "root:x:0:\nlocksmiths:x:70:ann,bob\nlock:x:7:\nbroken\nno:x:number:\n";
        assert_eq!(find(list, "lock"), Some(7));
        assert_eq!(find(list, "locksmiths"), Some(70));
        assert_eq!((find(list, "loc"), find(list, "no"), find(list, "broken")), (None, None, None));
        assert_eq!(UserGroup::Number(3).number(), Ok(3));
    }
}
