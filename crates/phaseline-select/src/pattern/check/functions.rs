//! The types that functions of expressions take and give.

use super::{Checker, FUNCTIONS, Ty};
use crate::{
    error::suggestion,
    expr::{Expr, PatternResult, Span, functions::NUMERIC},
};

impl Checker<'_> {
    /// The type of a call of a function.
    pub(super) fn call(&self, span: Span, name: &str, args: &[Expr]) -> PatternResult<Ty> {
        match name {
            "present" | "known" | "values" | "len" => self.of_one(span, name, args),
            "select" => self.select(span, args),
            "repeat" | "range" | "slice" | "join" => self.of_lists(span, name, args),
            "all" | "any" | "min" | "max" | "sum" | "prod" => self.reduction(span, name, args),
            _ => self.numeric(span, name, args),
        }
    }

    fn wrong<T>(&self, span: Span, usage: &str) -> PatternResult<T> {
        Err(self.fault(span, format!("usage: {usage}")))
    }

    fn of_one(&self, span: Span, name: &str, args: &[Expr]) -> PatternResult<Ty> {
        let [arg] = args else { return self.wrong(span, &format!("{name}(x)")) };
        match name {
            "present" => self.ty(arg).map(|_| Ty::Bool),
            "known" => self.value(arg).map(|_| Ty::Bool),
            "len" => match self.value(arg)? {
                Ty::List(_) => Ok(Ty::Int),
                _ => self.wrong(span, "len(list)"),
            },
            _ => match self.ty(arg)? {
                Ty::Entity(_) => Ok(Ty::List(Box::new(Ty::Number))),
                _ => self.wrong(span, "values(constant)"),
            },
        }
    }

    fn select(&self, span: Span, args: &[Expr]) -> PatternResult<Ty> {
        let [condition, yes, no] = args else {
            return self.wrong(span, "select(condition, a, b)");
        };
        let each = self.value(condition)? == Ty::List(Box::new(Ty::Bool));
        if !each {
            self.expect(condition, &Ty::Bool, "the condition")?;
        }
        // With a list of conditions, each side is a list or one for all.
        let item = |ty: Ty| match ty {
            Ty::List(item) if each => *item,
            ty => ty,
        };
        let ty = match (item(self.value(yes)?), item(self.value(no)?)) {
            (a, b) if a == b => a,
            (a, b) if a.is_number() && b.is_number() => Ty::Number,
            _ => return self.wrong(span, "select(condition, a, b) with a and b of one type"),
        };
        Ok(if each { Ty::List(Box::new(ty)) } else { ty })
    }

    fn of_lists(&self, span: Span, name: &str, args: &[Expr]) -> PatternResult<Ty> {
        let usage = match name {
            "repeat" => "repeat(list, count)",
            "range" => "range(count)",
            "slice" => "list[start:end]",
            _ => "join(list, list)",
        };
        match (name, args) {
            ("repeat", [items, count]) => {
                self.expect(count, &Ty::Int, "the number of elements")?;
                match self.value(items)? {
                    list @ Ty::List(_) => Ok(list),
                    _ => self.wrong(span, usage),
                }
            }
            ("range", [count]) => {
                self.expect(count, &Ty::Int, "the number of elements")?;
                Ok(Ty::List(Box::new(Ty::Int)))
            }
            ("slice", [list, start, end]) => {
                let ty = self.value(list)?;
                if !matches!(ty, Ty::List(_)) {
                    return self.wrong(span, usage);
                }
                self.expect(start, &Ty::Int, "the start of a slice")?;
                self.expect(end, &Ty::Int, "the end of a slice")?;
                Ok(ty)
            }
            ("join", [first, second]) => match (self.value(first)?, self.value(second)?) {
                (Ty::List(a), Ty::List(b)) if a == b => Ok(Ty::List(a)),
                (Ty::List(a), Ty::List(b)) if a.is_number() && b.is_number() => {
                    Ok(Ty::List(Box::new(Ty::Number)))
                }
                _ => self.wrong(span, usage),
            },
            _ => self.wrong(span, usage),
        }
    }

    /// Type of a reduction: one value of many, or, of several lists of numbers, a list.
    fn reduction(&self, span: Span, name: &str, args: &[Expr]) -> PatternResult<Ty> {
        if matches!(name, "all" | "any") {
            return match self.items(args)? {
                Some(Ty::Bool) | None => Ok(Ty::Bool),
                Some(_) => {
                    self.wrong(span, &format!("{name}(list <= 1), {name}([condition, ...])"))
                }
            };
        }
        if let Some(item) = self.each(args)? {
            return Ok(Ty::List(Box::new(item)));
        }
        match self.items(args)? {
            Some(ty) if ty.is_number() => Ok(ty),
            _ => self.wrong(span, &format!("{name}(list of numbers), {name}(a, b, ...)")),
        }
    }

    /// A function of one number, or of each of a list.
    fn numeric(&self, span: Span, name: &str, args: &[Expr]) -> PatternResult<Ty> {
        let Some((_, _, is_int)) = NUMERIC.iter().find(|(known, ..)| *known == name) else {
            let known = FUNCTIONS.into_iter().chain(NUMERIC.map(|(name, ..)| name));
            let message = format!("there is no function '{name}'{}", suggestion(name, known));
            return Err(self.fault(span, message));
        };
        let [arg] = args else { return self.wrong(span, &format!("{name}(x)")) };
        let result = |ty: Ty| match (is_int, name) {
            (true, _) => Ty::Int,
            (false, "abs") => ty,
            (false, _) => Ty::Number,
        };
        match self.value(arg)? {
            Ty::List(item) if item.is_number() => Ok(Ty::List(Box::new(result(*item)))),
            ty if ty.is_number() => Ok(result(ty)),
            _ => self.wrong(span, &format!("{name}(number or list of numbers)")),
        }
    }

    /// The type of the elements of several arguments, some of them lists of numbers, of which a
    /// function makes a list; nothing for other arguments.
    fn each(&self, args: &[Expr]) -> PatternResult<Option<Ty>> {
        let types = args.iter().map(|arg| self.value(arg)).collect::<PatternResult<Vec<Ty>>>()?;
        if args.len() < 2 || !types.iter().any(|ty| matches!(ty, Ty::List(_))) {
            return Ok(None);
        }
        let mut common = Ty::Int;
        for (ty, arg) in types.into_iter().zip(args) {
            let item = if let Ty::List(item) = ty { *item } else { ty };
            if !item.is_number() {
                let message = format!("'{arg}' is neither a number nor a list of numbers");
                return Err(self.fault(arg.span, message));
            }
            if item != Ty::Int {
                common = Ty::Number;
            }
        }
        Ok(Some(common))
    }

    /// The type of the elements of a list, or of several arguments.
    fn items(&self, args: &[Expr]) -> PatternResult<Option<Ty>> {
        if let [list] = args
            && let Ty::List(item) = self.value(list)?
        {
            return Ok(Some(*item));
        }
        let mut common = None;
        for arg in args {
            let ty = self.value(arg)?;
            common = match common {
                None => Some(ty),
                Some(before) if before == ty => Some(ty),
                Some(before) if before.is_number() && ty.is_number() => Some(Ty::Number),
                Some(_) => return Err(self.fault(arg.span, "the arguments differ in type")),
            };
        }
        Ok(common)
    }
}
