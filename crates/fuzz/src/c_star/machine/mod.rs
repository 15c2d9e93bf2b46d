//! What a program must print: it is done statement by statement, each for all positions, as the language's page tells, and knows nothing of how
//! the compiler does it. It knows the number of nodes, since the sums of real numbers depend on it.

mod communication;
mod expressions;
mod statements;

use super::number::{Result, Type, Value};
use super::tree::{Held, Program, ShapeOf};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How much a program may do: values at positions.
const LONGEST: u64 = 400_000;

/// What a program prints, on so many nodes. Where several answers are right, the one in `heard` is taken if it is among them.
///
/// # Errors
/// The program does what C leaves undefined, or too much.
pub fn printed(program: &Program, nodes: usize, heard: &[&str]) -> Result<Vec<String>> {
    let mut machine = Machine {
        program,
        nodes,
        contexts: vec![None; program.shapes.len()],
        globals: BTreeMap::new(),
        frames: vec![Frame::default()],
        lines: Vec::new(),
        heard,
        contenders: BTreeMap::new(),
        steps: 0,
    };
    for variable in &program.globals {
        let made = machine.made(*variable)?;
        machine.globals.insert(*variable, made);
    }
    machine.block(&program.main)?;
    Ok(machine.lines)
}

struct Machine<'p> {
    program: &'p Program,
    nodes: usize,
    /// Of each shape, which positions are active; none: all.
    contexts: Vec<Option<Rc<[bool]>>>,
    globals: BTreeMap<usize, Storage>,
    frames: Vec<Frame>,
    lines: Vec<String>,
    heard: &'p [&'p str],
    /// Of the last send, what came to each number to which several came: by its position and its place there.
    contenders: BTreeMap<(usize, usize), Vec<Value>>,
    steps: u64,
}

/// A function that is running.
#[derive(Default)]
struct Frame {
    locals: BTreeMap<usize, Storage>,
    /// What `current` is.
    called_in: Option<usize>,
    /// The current shape.
    shape: Option<usize>,
}

/// The numbers of a variable, position after position.
#[derive(Clone)]
struct Storage {
    shape: Option<usize>,
    cells: usize,
    values: Vec<Value>,
}

/// The active positions of the current shape.
#[derive(Clone)]
struct View {
    shape: usize,
    mask: Rc<[bool]>,
}

impl View {
    fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask.clone();
        (0..mask.len()).filter(move |position| mask[*position])
    }

    /// Those of these positions at which this is so.
    fn narrowed(&self, is: impl Fn(usize) -> bool) -> View {
        let mask = (0..self.mask.len()).map(|position| self.mask[position] && is(position)).collect();
        View { shape: self.shape, mask }
    }
}

/// Values with a place for each position; those at positions that are not active mean nothing.
fn at_none(view: &View) -> Vec<Value> {
    vec![Value::int(0); view.mask.len()]
}

impl Machine<'_> {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("main's frame is there until the end")
    }

    fn positions(&self, shape: usize) -> usize {
        self.program.shapes[shape].sizes.iter().product::<i128>() as usize
    }

    /// The shape that is meant where the function runs.
    fn meant(&self, shape: ShapeOf) -> Result<usize> {
        match shape {
            ShapeOf::Named(shape) => Ok(shape),
            ShapeOf::Current => {
                self.frames.last().and_then(|frame| frame.called_in).ok_or_else(|| "no shape is current".to_string())
            }
        }
    }

    /// The active positions of the current shape, if there is one.
    fn view(&self) -> Option<View> {
        let shape = self.frames.last()?.shape?;
        Some(self.view_of(shape))
    }

    fn view_of(&self, shape: usize) -> View {
        let mask = self.contexts[shape].clone();
        View { shape, mask: mask.unwrap_or_else(|| vec![true; self.positions(shape)].into()) }
    }

    fn needed_view(&self) -> Result<View> {
        self.view().ok_or_else(|| "no shape is current".to_string())
    }

    /// A new variable.
    fn made(&self, variable: usize) -> Result<Storage> {
        let declared = &self.program.variables[variable];
        let shape = declared.shape.map(|shape| self.meant(shape)).transpose()?;
        let mut of_one = Vec::new();
        let types: Vec<Type> = match declared.held {
            Held::Number(of) => vec![of],
            Held::Structure(structure) => {
                let fields = &self.program.structures[structure].fields;
                fields.iter().flat_map(|field| vec![field.of; field.count.unwrap_or(1)]).collect()
            }
        };
        for _ in 0..declared.count.unwrap_or(1) {
            for of in &types {
                of_one.push(declared.initial.unwrap_or(Value::int(0)).to(*of)?);
            }
        }
        let positions = shape.map_or(1, |shape| self.positions(shape));
        let cells = of_one.len();
        Ok(Storage { shape, cells, values: of_one.repeat(positions) })
    }

    fn storage(&mut self, variable: usize) -> Result<&mut Storage> {
        let program = self.program;
        let frame = self.frames.last_mut().expect("main's frame is there until the end");
        let found = frame.locals.get_mut(&variable).or_else(|| self.globals.get_mut(&variable));
        found.ok_or_else(|| format!("`{}` is not declared where it is used", program.variables[variable].name))
    }

    /// Counts what is done.
    fn step(&mut self, values: usize) -> Result<()> {
        self.steps += values as u64 + 1;
        if self.steps > LONGEST { Err("the program does too much".into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
