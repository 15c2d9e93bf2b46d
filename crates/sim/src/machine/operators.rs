//! What operators of a program cost, by their class, and how that becomes a whole number of work.

use crate::machine::ratio::Ratio;
use serde::Deserialize;
use trivium_guest::{OperatorClass, OperatorWeights};

/// Cycles of an operator of each class when every access hits; `processor.cpi` where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorCosts {
    /// Integers are added, compared, shifted, combined bit by bit, widened or narrowed; one of two values is selected.
    pub integer: Option<Ratio>,
    /// Integers are multiplied.
    pub multiply: Option<Ratio>,
    /// Integers are divided, or the remainder is taken.
    pub divide: Option<Ratio>,
    /// Floating-point numbers are added, subtracted or compared, or their sign is changed.
    pub float_add: Option<Ratio>,
    /// Floating-point numbers are multiplied.
    pub float_multiply: Option<Ratio>,
    /// Floating-point numbers are divided.
    pub float_divide: Option<Ratio>,
    /// A square root.
    pub square_root: Option<Ratio>,
    /// Between integers and floating-point numbers, between the sizes of these, and to a whole number.
    pub conversion: Option<Ratio>,
    /// Control goes on elsewhere, or may.
    pub branch: Option<Ratio>,
    /// A function is called.
    pub call: Option<Ratio>,
    /// Loads and stores, and each access of an operator that copies or fills memory.
    pub memory: Option<Ratio>,
    /// All others.
    pub other: Option<Ratio>,
}

/// A table of costs as guests want it: whole weights, and how many cycles a unit of weight is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weighing {
    pub weights: OperatorWeights,
    pub cycles: Ratio,
}

/// Why there is no such table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unweighed {
    /// The key of the cost that is wrong.
    pub key: String,
    /// What is wrong with it.
    pub why: String,
}

impl OperatorCosts {
    /// The key of a class, and its cost if one is given.
    fn given(&self, class: OperatorClass) -> (&'static str, Option<Ratio>) {
        match class {
            OperatorClass::Integer => ("integer", self.integer),
            OperatorClass::Multiply => ("multiply", self.multiply),
            OperatorClass::Divide => ("divide", self.divide),
            OperatorClass::FloatAdd => ("float_add", self.float_add),
            OperatorClass::FloatMultiply => ("float_multiply", self.float_multiply),
            OperatorClass::FloatDivide => ("float_divide", self.float_divide),
            OperatorClass::SquareRoot => ("square_root", self.square_root),
            OperatorClass::Conversion => ("conversion", self.conversion),
            OperatorClass::Branch => ("branch", self.branch),
            OperatorClass::Call => ("call", self.call),
            OperatorClass::Memory => ("memory", self.memory),
            OperatorClass::Other => ("other", self.other),
        }
    }

    /// The costs as whole weights: their unit is the greatest fraction of a cycle of which all costs are multiples.
    ///
    /// # Errors
    /// An operator takes no time, or costs are too far apart.
    pub(crate) fn weighing(&self, cpi: Ratio) -> Result<Weighing, Unweighed> {
        if OperatorClass::ALL.iter().all(|class| self.given(*class).1.is_none()) {
            return Ok(Weighing { weights: OperatorWeights::default(), cycles: cpi });
        }
        let costs = OperatorClass::ALL.map(|class| match self.given(class) {
            (key, Some(cost)) => (format!("processor.operators.{key}"), cost),
            (_, None) => ("processor.cpi".to_string(), cpi),
        });
        let mut unit = costs[0].1;
        for (key, cost) in &costs {
            let wrong = |why: String| Unweighed { key: key.clone(), why };
            if cost.is_zero() {
                let why = "an operator that takes no time would let a program run for ever at the same cycle";
                return Err(wrong(why.to_string()));
            }
            let finer = "it and the costs before it are multiples of no fraction of a cycle whose numerator and denominator are at most 1000000";
            unit = unit.common_part(*cost).ok_or_else(|| wrong(finer.to_string()))?;
        }
        let weights = costs.each_ref().map(|(_, cost)| cost.times(unit));
        let most = OperatorWeights::MOST;
        let weight = |class: OperatorClass| u32::try_from(weights[class as usize]).unwrap_or(u32::MAX);
        let weights = OperatorWeights::new(weight).ok_or_else(|| {
            let greatest = (0..weights.len()).max_by_key(|class| weights[*class]).unwrap_or_default();
            let why = format!("it is more than {most} times {unit} of a cycle, of which all costs are multiples");
            Unweighed { key: costs[greatest].0.clone(), why }
        })?;
        Ok(Weighing { weights, cycles: unit })
    }
}

#[cfg(test)]
mod tests {
    use super::{OperatorCosts, Unweighed};
    use crate::machine::ratio::Ratio;
    use trivium_guest::{OperatorClass, OperatorWeights};

    fn costs(text: &str) -> OperatorCosts {
        toml::from_str(text).unwrap()
    }

    fn ratio(text: &str) -> Ratio {
        Ratio::parse(text).unwrap()
    }

    #[test]
    fn costs_become_the_least_whole_weights() {
        let work = costs("divide = 17\nfloat_add = 1\ncall = \"7/5\"").weighing(ratio("0.70")).unwrap();
        assert_eq!(work.cycles, ratio("1/10"));
        let told = [OperatorClass::Integer, OperatorClass::Divide, OperatorClass::FloatAdd, OperatorClass::Call];
        assert_eq!(told.map(|class| work.weights.of(class)), [7, 170, 10, 14]);
        let work = costs("divide = 12").weighing(ratio("3")).unwrap();
        assert_eq!((work.cycles, work.weights.of(OperatorClass::Divide)), (ratio("3"), 4));
        for class in OperatorClass::ALL {
            let (key, none) = OperatorCosts::default().given(class);
            assert_eq!(none, None);
            let work = costs(&format!("{key} = 5")).weighing(ratio("2")).unwrap();
            let expected = OperatorWeights::new(|other| if other == class { 5 } else { 2 });
            assert_eq!((work.cycles, Some(work.weights)), (ratio("1"), expected), "{key}");
        }
    }

    /// Whoever gives each class the cost that it has anyway has changed nothing.
    #[test]
    fn equal_costs_are_no_weights() {
        for cpi in ["0.7", "3", "2/6"] {
            let work = costs(&format!("divide = \"{cpi}\"\nbranch = \"{cpi}\"")).weighing(ratio(cpi)).unwrap();
            assert_eq!(work.weights, OperatorWeights::default());
            assert_eq!(work.cycles.of(1_000_001), ratio(cpi).of(1_000_001));
        }
        assert_eq!(OperatorCosts::default().weighing(ratio("0.70")).unwrap().cycles, ratio("0.70"));
    }

    #[test]
    fn costs_without_a_common_part_are_refused() {
        let wrong = |text: &str, cpi: &str| -> Unweighed { costs(text).weighing(ratio(cpi)).unwrap_err() };
        assert_eq!(wrong("divide = 0", "0.7").key, "processor.operators.divide");
        assert_eq!(wrong("divide = 1", "0").key, "processor.cpi");
        assert_eq!(wrong("branch = \"1/999983\"", "0.7").key, "processor.operators.branch");
        let far = wrong("square_root = 1000000", "0.7");
        assert_eq!(far.key, "processor.operators.square_root");
        assert!(far.why.contains("more than 1048576 times 1/10 of a cycle"), "{}", far.why);
    }
}
