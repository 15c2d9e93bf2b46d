//! What can be said of the objects of a system that is explored: how many there are of each kind, and where they live.

use std::collections::BTreeMap;
use std::str::FromStr;

/// `--objects`: `2`, `block=4,job=1`, `2,job=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    /// Of each kind that is not named.
    pub each: Option<u32>,
    /// Of these kinds.
    pub kinds: BTreeMap<String, u32>,
}

/// `--homes`: `block=1/0,job=2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes(pub BTreeMap<String, Vec<u32>>);

/// A number of objects.
fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("`{text}` is not a number from 1 on")),
    }
}

/// Adds what is said of a kind, which is said once.
fn add<T>(map: &mut BTreeMap<String, T>, kind: &str, what: T) -> Result<(), String> {
    match map.insert(kind.to_string(), what) {
        None if !kind.is_empty() => Ok(()),
        None => Err("a kind of objects has a name: `block=4`".into()),
        Some(_) => Err(format!("`{kind}` is named twice")),
    }
}

impl FromStr for Objects {
    type Err = String;

    fn from_str(text: &str) -> Result<Objects, String> {
        let mut objects = Objects { each: None, kinds: BTreeMap::new() };
        for part in text.split(',') {
            match part.split_once('=') {
                Some((kind, number)) => add(&mut objects.kinds, kind, count(number)?)?,
                None if objects.each.is_some() => return Err("the number of objects of each kind is said twice".into()),
                None => objects.each = Some(count(part)?),
            }
        }
        Ok(objects)
    }
}

impl FromStr for Homes {
    type Err = String;

    fn from_str(text: &str) -> Result<Homes, String> {
        let mut homes = BTreeMap::new();
        for part in text.split(',') {
            let (kind, nodes) = part.split_once('=').ok_or_else(|| format!("`{part}` names no kind: `block=1/0`"))?;
            let nodes =
                nodes.split('/').map(|node| node.parse().map_err(|_| format!("`{node}` is not a number of a node")));
            add(&mut homes, kind, nodes.collect::<Result<Vec<u32>, String>>()?)?;
        }
        Ok(Homes(homes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_for_all_kinds_and_for_some() {
        let objects = |text: &str| text.parse::<Objects>();
        assert_eq!(objects("3").unwrap(), Objects { each: Some(3), kinds: BTreeMap::new() });
        let both = objects("2,job=1,block=4").unwrap();
        assert_eq!((both.each, both.kinds["job"], both.kinds["block"]), (Some(2), 1, 4));
        for wrong in ["", "0", "-1", "block=", "block=0", "=1", "1,2", "block=1,block=2", "block=x"] {
            assert!(objects(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn homes_are_nodes_in_order() {
        let homes = |text: &str| text.parse::<Homes>();
        assert_eq!(homes("block=1/0,job=2").unwrap().0["block"], [1, 0]);
        for wrong in ["", "1", "block=", "block=1/", "block=a", "=1", "block=1,block=1"] {
            assert!(homes(wrong).is_err(), "{wrong}");
        }
    }
}
