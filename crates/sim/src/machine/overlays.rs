//! Machines that are put together: a machine, and overlays that change parts of it. `-m m-machine+swx+imb` names them in one word, and
//! `base = ["m-machine", "swx", "imb"]` in a file.

use crate::machine::load::{self, built_in, leaves};
use toml::{Table, Value};
use trivium_diagnostic::{Code, Diagnostic};

/// The overlays that are built in: name and text.
pub const OVERLAYS: [(&str, &str); 11] = [
    ("irs", include_str!("../../../../machines/overlays/irs.toml")),
    ("irb", include_str!("../../../../machines/overlays/irb.toml")),
    ("ims", include_str!("../../../../machines/overlays/ims.toml")),
    ("imb", include_str!("../../../../machines/overlays/imb.toml")),
    ("ers", include_str!("../../../../machines/overlays/ers.toml")),
    ("erb", include_str!("../../../../machines/overlays/erb.toml")),
    ("ems", include_str!("../../../../machines/overlays/ems.toml")),
    ("emb", include_str!("../../../../machines/overlays/emb.toml")),
    ("swx", include_str!("../../../../machines/overlays/swx.toml")),
    ("pol", include_str!("../../../../machines/overlays/pol.toml")),
    ("int", include_str!("../../../../machines/overlays/int.toml")),
];

/// What stands between the names of a machine that is put together.
const BESIDE: char = '+';

/// The text of a machine whose name says how it is put together, if it does.
pub fn of_name(name: &str) -> Option<String> {
    if !name.contains(BESIDE) || name.ends_with(".toml") {
        return None;
    }
    let parts: Vec<Value> = name.split(BESIDE).map(|part| Value::String(part.to_string())).collect();
    Some(format!("base = {}\nname = \"{name}\"\n", Value::Array(parts)))
}

/// An overlay that is laid over a machine.
struct Laid {
    name: String,
    /// What it sets, by its dotted keys.
    keys: Vec<(String, Value)>,
}

/// All keys of a machine and of the overlays over it.
///
/// # Errors
/// There is no such machine or overlay, an overlay is there twice, two set a key differently, or one sets what the machine does not have. The error has no place.
pub(super) fn put_together(names: &[Value]) -> Result<Table, Diagnostic> {
    let said: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let (Some((&machine, overlays)), true) = (said.split_first(), said.len() == names.len()) else {
        let what = "`base` is a list of something else than the names of a machine and of overlays";
        return Err(Diagnostic::new(Code::Machine, what).help("write `base = [\"m-machine\", \"swx\"]`"));
    };
    let Some(text) = built_in(machine) else { return Err(no_machine(machine)) };
    let mut table = load::whole(&format!("machines/{machine}.toml"), text)?;
    let mut laid: Vec<Laid> = Vec::new();
    for &name in overlays {
        let own = own(name)?;
        let mut keys = Vec::new();
        leaves(&own, "", &mut keys);
        if laid.iter().any(|before| before.name == name) {
            return Err(
                Diagnostic::new(Code::Machine, format!("the overlay `{name}` is named twice")).help("name it once")
            );
        }
        if let Some((before, key)) = laid.iter().find_map(|before| Some((&before.name, contradicts(before, &keys)?))) {
            let what = format!("the overlays `{before}` and `{name}` both set `{key}`, and differently");
            return Err(Diagnostic::new(Code::Machine, what)
                .help("leave one of them out: both say how the same part of the machine works"));
        }
        let missing = keys.iter().map(|(key, _)| key.split('.').next().unwrap_or(key));
        if let Some(missing) = missing.into_iter().find(|first| !table.contains_key(*first)) {
            let what = format!("the overlay `{name}` changes `{missing}`, which the machine `{machine}` does not have");
            let help = format!("lay it over a machine with `{missing}`, as in `m-machine+{name}`");
            return Err(Diagnostic::new(Code::Machine, what).help(help));
        }
        load::lay_over(&mut table, own);
        laid.push(Laid { name: name.to_string(), keys });
    }
    Ok(table)
}

/// The first key that two overlays set differently.
fn contradicts<'a>(before: &Laid, keys: &'a [(String, Value)]) -> Option<&'a str> {
    let differs = |(key, value): &&(String, Value)| before.keys.iter().any(|(other, was)| other == key && was != value);
    keys.iter().find(differs).map(|(key, _)| key.as_str())
}

/// What an overlay sets.
fn own(name: &str) -> Result<Table, Diagnostic> {
    let Some((_, text)) = OVERLAYS.iter().find(|overlay| overlay.0 == name) else {
        let names: Vec<_> = OVERLAYS.iter().map(|overlay| overlay.0).collect();
        let near = load::nearest(name, &names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let what = match built_in(name) {
            Some(_) => format!("`{name}` is a machine, and no overlay"),
            None => format!("there is no overlay `{name}`"),
        };
        return Err(Diagnostic::new(Code::Machine, what).help(format!("{near}there are {}", names.join(", "))));
    };
    let mut own = load::table_of(&format!("machines/overlays/{name}.toml"), text)?;
    own.remove("about");
    Ok(own)
}

fn no_machine(name: &str) -> Diagnostic {
    let names: Vec<_> = load::BUILT_IN.iter().map(|machine| machine.0).collect();
    let is_overlay = OVERLAYS.iter().any(|overlay| overlay.0 == name);
    let what = match is_overlay {
        true => format!("`{name}` is an overlay, and there is no machine before it"),
        false => format!("there is no machine `{name}` to begin from"),
    };
    Diagnostic::new(Code::Machine, what).help(format!("first comes a machine that is built in: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::machine::Machine;

    fn refused(name: &str) -> String {
        let error = Machine::load(name, &[]).unwrap_err();
        format!("{error}")
    }

    #[test]
    fn overlays_change_their_part_and_leave_the_rest() {
        let of = |name: &str| Machine::load(name, &[]).unwrap();
        let (plain, both) = (of("m-machine"), of("m-machine+swx+imb"));
        assert_eq!(both.name, "m-machine+swx+imb");
        let (before, after) = (plain.slots.clone().unwrap(), both.slots.clone().unwrap());
        assert_eq!(before.dispatch, after.dispatch);
        assert_eq!(before.extract, after.extract);
        assert_eq!(of("m-machine+swx").slots.unwrap().translate, after.translate);
        assert_eq!(of("m-machine+imb").slots.unwrap().inject, after.inject);
        assert_eq!(of("m-machine+imb+swx").slots, both.slots, "their order does not matter");
        assert_eq!(plain.prices, both.prices);
    }

    #[test]
    fn all_24_interfaces_are_machines() {
        let basic = ["", "+irs", "+irb", "+ims", "+imb", "+ers", "+erb", "+ems", "+emb", "+swx", "+pol", "+int"];
        let composite = [
            "+swx+imb+emb+int",
            "+swx+imb+emb+pol",
            "+swx+imb+emb",
            "+swx+imb+ems",
            "+swx+ims+ems",
            "+swx+ims",
            "+swx+irb+erb+int",
            "+swx+irb+erb+pol",
            "+swx+irb+erb",
            "+swx+irb+ers",
            "+swx+irs+ers",
            "+swx+irs",
        ];
        let mut all: Vec<_> = basic
            .iter()
            .chain(&composite)
            .map(|with| Machine::load(&format!("m-machine{with}"), &[]).unwrap().slots)
            .collect();
        assert_eq!(all.len(), 24);
        while let Some(one) = all.pop() {
            assert!(!all.contains(&one), "two are the same: {one:?}");
        }
    }

    #[test]
    fn what_cannot_be_put_together_is_told() {
        for (name, told) in [
            ("m-machine+swy", "there is no overlay `swy`"),
            ("m-machine+swx+swx", "the overlay `swx` is named twice"),
            ("m-machine+irb+imb", "the overlays `irb` and `imb` both set `slots.inject"),
            ("m-machine+pol+int", "the overlays `pol` and `int` both set `slots.dispatch"),
            ("typhoon+swx", "the overlay `swx` changes `slots`, which the machine `typhoon` does not have"),
            ("swx+m-machine", "`swx` is an overlay, and there is no machine before it"),
            ("m-machine+typhoon", "`typhoon` is a machine, and no overlay"),
            ("m-machine+", "there is no overlay ``"),
        ] {
            let said = refused(name);
            assert!(said.contains(told), "{name}: {said}");
        }
    }
}
