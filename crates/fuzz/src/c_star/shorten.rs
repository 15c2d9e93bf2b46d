//! Makes a program shorter that prints something else than it must: statements are left out, as long as it still does.

use super::tree::{Program, Statement};

/// The program without statements that are not needed for this to stay so.
pub fn shortened(
    program: &Program,
    stays: &mut dyn FnMut(&Program) -> Result<bool, String>,
) -> Result<Program, String> {
    let mut shortest = program.clone();
    let mut number = 0;
    while let Some(shorter) = without(&shortest, number) {
        // What stands behind it has its number then.
        if stays(&shorter)? {
            shortest = shorter;
        } else {
            number += 1;
        }
    }
    Ok(shortest)
}

/// The program without the statement of this number, those in it counted behind it; none if there are not so many.
fn without(program: &Program, number: usize) -> Option<Program> {
    let mut program = program.clone();
    let mut left = number;
    let functions = program.functions.iter_mut().map(|function| &mut function.body);
    let is_removed = std::iter::once(&mut program.main).chain(functions).any(|body| remove(body, &mut left));
    is_removed.then_some(program)
}

/// Removes the statement at which nothing is left to count. The last statement of a function gives its value, and stays.
fn remove(statements: &mut Vec<Statement>, left: &mut usize) -> bool {
    for at in 0..statements.len() {
        if !matches!(statements[at], Statement::Return(_)) {
            if *left == 0 {
                statements.remove(at);
                return true;
            }
            *left -= 1;
        }
        if inner(&mut statements[at]).into_iter().any(|block| remove(block, left)) {
            return true;
        }
    }
    false
}

/// The blocks of a statement.
fn inner(statement: &mut Statement) -> Vec<&mut Vec<Statement>> {
    match statement {
        Statement::Block(inner)
        | Statement::With(_, inner)
        | Statement::Everywhere(inner)
        | Statement::For(_, _, inner)
        | Statement::While(_, _, _, inner)
        | Statement::Do(_, _, _, inner) => vec![inner],
        Statement::Switch(_, cases) => cases.iter_mut().map(|(_, inner)| inner).collect(),
        Statement::Where(_, inner, otherwise) | Statement::If(_, inner, otherwise) => {
            std::iter::once(inner).chain(otherwise).collect()
        }
        _ => Vec::new(),
    }
}
